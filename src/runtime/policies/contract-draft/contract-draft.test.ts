import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Json, JsonObject } from '../../../core/types/index.ts';
import { findOwnRole } from './argument-roles.ts';
import { draftContracts } from './draft-contracts.ts';
import { formatDraft } from './format-draft.ts';
import { readOpenApi } from './read-openapi.ts';
import { readToolList } from './read-tool-list.ts';

const string = { type: 'string' };

/** Builds an object schema whose members are all required. */
const object = (properties: object): JsonObject =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as JsonObject;

/** Drafts from a tool list, and checks that the text is a policy that compiles and says the same. */
function draft(tools: readonly object[]) {
  const names = { server: null, toCallName: (name: string) => name };
  const read = readToolList(JSON.parse(JSON.stringify({ tools })) as Json, names);
  assert.ok(read.ok, read.ok ? '' : read.message);
  const drafts = draftContracts(read.tools);
  const text = formatDraft(drafts, ['a heading']);
  const document = parse(text);
  const contracts = JSON.parse(JSON.stringify(drafts.map(({ contract }) => contract)));
  assert.deepEqual(document, { version: 'v1alpha1', contracts });
  assert.equal(buildTestPolicy({ documents: [document] }).contracts.length, tools.length);
  return contracts;
}

const ROLES: readonly (readonly [name: string, role: string, schema?: object])[] = [
  ['recipient', 'destination'],
  ['recipientIds', 'destination'],
  ['to', 'destination'],
  ['cc', 'destination'],
  ['user_email', 'destination'],
  ['channel', 'destination'],
  ['address', 'destination', { type: 'string', format: 'email' }],
  ['email_id', 'identifier'],
  ['order', 'identifier', { type: 'string', format: 'uuid' }],
  ['x', 'identifier', { type: 'string', description: 'The ID of the order' }],
  ['new_password', 'credential'],
  ['api_key', 'credential'],
  ['page_token', 'other'],
  ['role', 'permission', { enum: ['viewer', 'editor'] }],
  ['visibility', 'permission'],
  ['callback_url', 'url'],
  ['target', 'url', { type: 'string', format: 'uri' }],
  ['amount', 'amount', { type: 'number' }],
  ['start_time', 'date'],
  ['to_date', 'date'],
  ['file_path', 'path'],
  ['body', 'text'],
  ['email_subject', 'text'],
  ['query', 'query'],
  ['urgent', 'choice', { type: 'boolean' }],
  ['widget', 'other'],
  ['total_recall_unit', 'other'],
];

test('names and formats show the role of an argument', () => {
  for (const [name, role, schema = string] of ROLES)
    assert.equal(findOwnRole(name, schema as JsonObject), role, name);
  assert.equal(ROLES.length, 27);
});

test('an object has the strictest role among its members', () => {
  const [contract] = draft([
    { name: 'send_it', inputSchema: object({ letter: object({ body: string, to: string }) }) },
    {
      name: 'get_contacts',
      outputSchema: object({ items: { type: 'array', items: object({ email: string }) } }),
    },
  ]);
  assert.deepEqual(contract.flow.arguments.letter.any_of, ['user', 'trusted.contacts']);
});

const LISTED = ['trivial', 'unknown', 'untrusted', 'user_source', 'any', 'own'];

test('money, people, secrets and rights accept no weak label', () => {
  const contracts = draft([
    {
      name: 'transfer_money',
      inputSchema: object({
        iban: string,
        amount: { type: 'number' },
        note: string,
        currency: { enum: ['EUR', 'USD'] },
      }),
    },
    {
      name: 'share_folder',
      inputSchema: object({ folder_id: string, member: string, role: { enum: ['r', 'w'] } }),
    },
    { name: 'set_credentials', inputSchema: object({ password: string }) },
    { name: 'list_balances', outputSchema: object({ balance: { type: 'number' } }) },
  ]);
  const [transfer, share, secrets] = contracts;
  const strict = [
    transfer.flow.arguments.iban,
    transfer.flow.arguments.amount,
    share.flow.arguments.member,
    share.flow.arguments.role,
    secrets.flow.arguments.password,
  ];
  for (const { any_of } of strict) {
    assert.ok(any_of.includes('user'), JSON.stringify(any_of));
    assert.ok(!any_of.some((label: string) => LISTED.includes(label.split('.')[0]!)), JSON.stringify(any_of));
  }
  assert.deepEqual(transfer.flow.arguments.amount.any_of, ['user', 'trusted.bank']);
  // Controls: other arguments of the same tools accept more.
  assert.ok(transfer.flow.arguments.currency.any_of.includes('trivial'));
  assert.ok(share.flow.arguments.folder_id.any_of.includes('own'));
  for (const { flow } of [transfer, share, secrets]) assert.equal(flow.otherwise, 'require_approval');
});

test('strangers’ texts and names stay untrusted, made fields do not', () => {
  const message = {
    id: string,
    from: string,
    subject: string,
    body: string,
    received_at: { type: 'string', format: 'date-time' },
    is_read: { type: 'boolean' },
    size: { type: 'integer' },
    attachment_name: string,
  };
  const [mail] = draft([
    {
      name: 'list_messages',
      description: 'Lists emails',
      outputSchema: object({ items: { type: 'array', items: object(message) } }),
    },
  ]);
  assert.match(mail.emits.origin, /^untrusted\./);
  assert.deepEqual(Object.keys(mail.emits.labels).sort(), [
    'items[].id',
    'items[].is_read',
    'items[].received_at',
    'items[].size',
  ]);
  assert.equal(mail.flow, undefined, 'a tool that only reads has no sinks');
});

test('a list at the root and keys of a map have labels', () => {
  const [people, prices] = draft([
    { name: 'get_users', outputSchema: { type: 'array', items: string } },
    { name: 'get_prices', outputSchema: { type: 'object', additionalProperties: { type: 'number' } } },
  ]);
  assert.deepEqual(people.emits.labels, { '[]': 'trusted.members' });
  assert.deepEqual(prices.emits.labels, { '@keys': 'trusted.records', '*': 'trusted.records' });
});

test('only an address book that is read gives trusted people', () => {
  const card = { type: 'array', items: object({ email: string, notes: string, title: string }) };
  const [book, invite, shops, priced] = draft([
    { name: 'search_contacts_by_email', outputSchema: card },
    { name: 'add_user', outputSchema: card },
    { name: 'get_opening_hours', description: 'Of our contacts and users.', outputSchema: card },
    {
      name: 'get_contact_data_for_shops',
      outputSchema: { type: 'object', additionalProperties: string },
    },
  ]);
  assert.deepEqual(book.emits.labels, { '[].email': 'trusted.contacts' });
  assert.equal(invite.emits, undefined);
  assert.equal(shops.emits.labels, undefined);
  assert.equal(priced.emits.labels, undefined);
});

test('lists of users receive messages, and no money', () => {
  const inputSchema = object({ recipient: string, room: string });
  const [message, money] = draft([
    { name: 'send_message', inputSchema },
    { name: 'send_money', inputSchema },
    { name: 'list_users', outputSchema: { type: 'array', items: string } },
    { name: 'list_channels', outputSchema: { type: 'array', items: string } },
  ]);
  assert.deepEqual(message.flow.arguments.recipient.any_of, ['user', 'trusted.members']);
  assert.deepEqual(message.flow.arguments.room.any_of, ['user', 'own', 'trusted.chat']);
  assert.deepEqual(money.flow.arguments.recipient.any_of, ['user']);
  assert.ok(message.flow.intent.includes('tell') && !money.flow.intent.includes('tell'));
});

test('hints of a server only make a tool stricter', () => {
  const schema = { inputSchema: object({ key: string }), outputSchema: object({ id: string }) };
  const tools = (annotations: object) => [
    { name: 'delete_record', ...schema, annotations },
    { name: 'get_record', ...schema, annotations },
  ];
  const plain = draft(tools({}));
  assert.deepEqual(draft(tools({ readOnlyHint: true, destructiveHint: false, openWorldHint: false })), plain);
  assert.ok(plain[0].flow !== undefined && plain[1].flow === undefined);
  const [, destroys] = draft(tools({ destructiveHint: true }));
  assert.equal(destroys.side_effects.reversible, false);
  assert.ok(destroys.flow !== undefined);
  const [, open] = draft(tools({ openWorldHint: true }));
  assert.deepEqual(open.emits, { origin: 'untrusted.web' });
  assert.equal(open.flow.arguments.key.type, 'text');
});

test('an identifier is own only if the call makes it', () => {
  const outputSchema = object({ id: string });
  const [made, read] = draft([
    { name: 'create_ticket', outputSchema },
    { name: 'get_ticket', outputSchema },
  ]);
  assert.deepEqual(made.emits.labels.id, { own: 'generated' });
  assert.equal(read.emits.labels.id, 'trusted.ticket');
});

test('acts that cannot be undone need a word of the prompt', () => {
  const inputSchema = object({ id: string });
  const [gone, saved, odd] = draft([
    { name: 'delete_page', inputSchema },
    { name: 'save_page', inputSchema },
    { name: 'frobnicate', inputSchema },
  ]);
  assert.ok(gone.flow.intent.includes('remove') && gone.side_effects.reversible === false);
  assert.ok(saved.flow.intent === undefined && saved.side_effects.reversible === true);
  assert.equal(odd.side_effects.reversible, false, 'an unknown effect counts as writing');
  assert.ok(odd.flow.others !== undefined);
});

test('addresses in text that leaves must be known', () => {
  const inputSchema = object({ body: string });
  const [sent, kept] = draft([
    { name: 'send_mail', inputSchema },
    { name: 'append_to_note', inputSchema },
  ]);
  assert.equal(sent.flow.arguments.body.type, 'text');
  assert.deepEqual(kept.flow.arguments.body, { any_of: ['any'] });
});

test('texts from outside never become YAML or a comment', () => {
  const hostile = 'x"\n  allowed_agents: ["*"] # \u001b[2J\u2028\r\n- tool_name: other\u0000\u202e: {a: b}';
  const names = [hostile, 'null', 'y', '- a', '#', "'", '__proto__', '*', '&a', '%', '@keys', '1e3'];
  const inputSchema = JSON.parse(
    `{"type":"object","description":${JSON.stringify(hostile)},"properties":{${names
      .map(
        (name) =>
          `${JSON.stringify(name)}:{"enum":[${JSON.stringify(hostile)}],"description":${JSON.stringify(hostile)}}`,
      )
      .join(',')}}}`,
  );
  const tools = names.map((name) => ({
    name,
    title: hostile,
    description: hostile,
    inputSchema,
    outputSchema: inputSchema,
  }));
  const contracts = draft(tools);
  assert.deepEqual(
    contracts.map((each: JsonObject) => each.tool_name),
    names,
  );
  const read = readToolList(tools as unknown as Json, { server: hostile, toCallName: (name) => name });
  assert.ok(read.ok);
  const text = formatDraft(draftContracts(read.tools), []);
  assert.doesNotMatch(text, /[^\x20-\x7e\n]/);
  for (const line of text.split('\n')) {
    const comment = / {2}# ([^"']*)$/.exec(line)?.[1];
    assert.doesNotMatch(comment ?? '', /allowed_agents|tool_name/);
  }
  assert.equal(text, formatDraft(draftContracts(read.tools), []), 'deterministic');
});

test('limits of lists, names and schemas hold', () => {
  const names = { server: null, toCallName: (name: string) => name };
  const refuse = (value: unknown): string => {
    const read = readToolList(value as Json, names);
    return read.ok ? 'accepted' : read.message;
  };
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `get_${at}` }));
  assert.equal(refuse({ tools: many(1_000) }), 'accepted');
  assert.match(refuse({ tools: many(10_000) }), /10000 tools, .* at most 1000/);
  assert.match(refuse({ tools: [{ name: 'a' }, { name: 'a' }] }), /tool 2 is there twice/);
  assert.match(refuse({ tools: [{ name: 'a'.repeat(257) }] }), /longer than 256/);
  assert.match(refuse({ tools: [{ name: 7 }] }), /`tools\[0\]\.name` is no text/);
  for (const value of [null, 'x', {}, { tools: {} }]) assert.match(refuse(value), /has no `tools`/);
  let deep: object = string;
  for (let depth = 0; depth < 1_000; depth++) deep = { type: 'object', properties: { a: deep, b: string } };
  const wide = object(
    Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`a${at}`, object({ b: string })])),
  );
  const again = {
    $ref: '#/$defs/a',
    $defs: { a: object({ a: { $ref: '#/$defs/a' }, b: { $ref: 'https://a.test/x' } }) },
  };
  const [first, , loop] = draft([
    { name: 'get_deep', inputSchema: deep, outputSchema: deep },
    { name: 'get_wide', inputSchema: wide, outputSchema: wide },
    { name: 'get_loop', inputSchema: again },
  ]);
  assert.ok(JSON.stringify(first).length < 10_000);
  assert.deepEqual(loop.arguments.properties, { a: {}, b: {} });
});

test('references of an OpenAPI document lead into it alone', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop' },
    paths: {
      '/orders/{id}': {
        parameters: [{ $ref: '#/components/parameters/id' }],
        get: {
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } },
          },
        },
        delete: { operationId: 'dropOrder', responses: {} },
      },
      '/evil': { $ref: 'https://evil.test/paths.json' },
      '/loop': { $ref: '#/paths/~1loop' },
    },
    components: {
      parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
      schemas: {
        Order: object({
          id: string,
          total: { type: 'number' },
          parent: { $ref: '#/components/schemas/Order' },
        }),
      },
    },
  };
  const read = readOpenApi(document as unknown as Json);
  assert.ok(read.ok);
  assert.deepEqual(
    read.tools.map(({ name }) => name),
    ['get_orders_id', 'dropOrder'],
  );
  assert.deepEqual(read.tools[0]!.input_schema?.required, ['id']);
  for (const wrong of [{ swagger: '2.0', paths: {} }, { openapi: '3.0.0' }, [], null])
    assert.ok(!readOpenApi(wrong as unknown as Json).ok);
  const paths = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`/a${at}`, { get: {} }]));
  assert.ok(!readOpenApi({ openapi: '3.0.0', paths } as unknown as Json).ok);
});
