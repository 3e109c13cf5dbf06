import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Asked, type ServeOptions, serve } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'checks-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const KEY = ['sk', 'ABCDEF1234567890'].join('-');
const SSN = ['123', '45', '6789'].join('-');
const EMAIL = 'jane.doe@acme-corp.io';

const roots = join(scratch, 'roots');
mkdirSync(join(roots, 'folder'), { recursive: true });
writeFileSync(join(scratch, 'outside.txt'), KEY);
writeFileSync(join(roots, 'notes.txt'), `Use key ${KEY}`);
writeFileSync(join(roots, 'data.json'), JSON.stringify({ deep: [{ key: KEY }] }));
writeFileSync(join(roots, 'latin.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
symlinkSync(join(scratch, 'outside.txt'), join(roots, 'link.txt'));
symlinkSync(join(roots, 'notes.txt'), join(roots, 'inner.txt'));

/** What a check must answer; `forbidden` must stand nowhere in the answer. */
interface Scenario {
  readonly name: string;
  readonly ask: Asked;
  readonly status?: number;
  readonly has?: object;
  readonly lacks?: readonly string[];
  readonly forbidden?: readonly string[];
  /** How many events it leaves behind; one by default for a 200. */
  readonly events?: number;
}

interface Service {
  readonly options: Omit<ServeOptions, 'state_dir'>;
  readonly scenarios: readonly Scenario[];
}

const post = (path: string, body: unknown, headers?: Record<string, string>): Asked => ({
  path,
  body,
  ...(headers && { headers }),
});
const input = (body: unknown, headers?: Record<string, string>) => post('/v1/scan/input', body, headers);
const structured = (body: unknown) => post('/v1/scan/structured', body);
const scanFile = (body: unknown) => post('/v1/scan/file', body);
const output = (body: unknown) => post('/v1/guard/output', body);
const tool = (body: unknown) => post('/v1/intercept/tool', body);
const message = (body: unknown) => post('/v1/intercept/agent-message', body);

function upload(parts: readonly { name: string; filename?: string; content: string | Buffer }[]): Asked {
  const boundary = 'xYzZY';
  const chunks = parts.flatMap(({ name, filename, content }) => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return {
    path: '/v1/scan/file',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

const sidecar: Service = {
  options: {
    file_roots: [roots],
    documents: [
      {
        version: 'v1alpha1',
        contract: {
          tool_name: 'lookup',
          description: 'Looks a customer up.',
          accepts: { tags: ['personal'], fields: ['id'] },
          emits: { tags: ['personal'], fields: ['name'] },
          side_effects: { reversible: true, requires_approval: false, description: 'None.' },
        },
      },
    ],
  },
  scenarios: [
    {
      name: 'the key of the interface document is blocked, and shown to its sender',
      ask: input({ text: `Use key ${KEY}` }),
      has: {
        decision: 'block',
        action: 'block',
        event_id: 'evt_000000000000000000000001',
        coverage: 'full',
        violations: [
          {
            type: 'secret_detected',
            detector: 'api_key',
            severity: 'critical',
            match: KEY,
            start: 8,
            end: 27,
          },
        ],
      },
      lacks: ['modified_text', 'fallback_used', 'coverage_reason', 'fault', 'error', 'code'],
    },
    {
      name: 'a social security number is masked on the way in',
      ask: input({ text: `My number is ${SSN}.` }),
      has: {
        decision: 'modify',
        action: 'redact',
        modified_text: 'My number is [REDACTED].',
        violations: [{ type: 'pii_detected', detector: 'ssn', severity: 'high', match: SSN }],
      },
    },
    {
      name: 'a clean text is allowed, with an empty list',
      ask: input({ text: 'What is the weather?', agent_id: 'a1', context: { tool: 't', session_id: 's' } }),
      has: { decision: 'allow', action: 'allow', rule: 'default.allow', violations: [], coverage: 'full' },
      lacks: ['modified_text'],
    },
    { name: 'an empty text is a text', ask: input({ text: '' }), has: { decision: 'allow', violations: [] } },
    {
      name: 'offsets count code points',
      ask: input({ text: `😀😀 ${SSN}` }),
      has: { violations: [{ start: 3, end: 14, match: SSN }] },
    },
    {
      name: 'names that are null or blank are absent',
      ask: input({ text: 'x', agent_id: null, tenant_id: ' ', context: { tool: null, session_id: '' } }),
      has: { decision: 'allow' },
    },
    {
      name: 'unknown fields are ignored, also one that would change what an object is',
      ask: input('{"text":"hello","__proto__":{"text":"x"},"constructor":1,"more":{"text":"y"}}'),
      status: 415,
      has: { code: 'unsupported_media_type' },
    },
    {
      name: 'unknown fields are ignored',
      ask: {
        path: '/v1/scan/input',
        headers: { 'content-type': 'application/json' },
        body: '{"text":"hello","__proto__":{"text":"x"},"constructor":1,"more":{"text":"y"}}',
      },
      has: { decision: 'allow' },
    },
    {
      name: 'a payload is looked at leaf by leaf',
      ask: structured({ payload: { a: [{ note: `Use ${KEY}` }], b: 7 } }),
      has: { decision: 'block', violations: [{ path: '$.a[0].note', match: KEY, start: 4, end: 23 }] },
      lacks: ['modified_payload', 'modified_text'],
    },
    {
      name: 'a payload keeps its shape when it is masked',
      ask: structured({ payload: { user: { mail: EMAIL }, keep: [1, null, true] } }),
      has: {
        decision: 'modify',
        modified_payload: { user: { mail: '[REDACTED]' }, keep: [1, null, true] },
        violations: [{ type: 'pii_detected', detector: 'email', path: '$.user.mail' }],
      },
    },
    { name: 'a payload may be null', ask: structured({ payload: null }), has: { decision: 'allow' } },
    {
      name: 'a payload may be a text',
      ask: structured({ payload: `Use ${KEY}` }),
      has: { decision: 'block' },
    },
    {
      name: 'a connection string is masked on the way out, and not shown',
      ask: output({
        text: `Here is the config: DATABASE_URL=${['postgresql:', '', 'admin:p4ssw0rd@db.internal:5432', 'prod'].join('/')}`,
      }),
      has: {
        decision: 'modify',
        modified_text: 'Here is the config: DATABASE_URL=[REDACTED]',
        violations: [{ type: 'secret_detected', detector: 'connection_string' }],
      },
      forbidden: ['p4ssw0rd', '"match"'],
    },
    {
      name: 'a file by name and content',
      ask: scanFile({ name: 'notes.txt', content: `Use key ${KEY}` }),
      has: { decision: 'block', mode: 'text', size_bytes: 27, violations: [{ match: KEY }] },
    },
    {
      name: 'a file as base64',
      ask: scanFile({
        name: 'N.JSON',
        content_base64: Buffer.from(JSON.stringify({ k: EMAIL })).toString('base64'),
      }),
      has: { decision: 'modify', mode: 'structured', modified_payload: { k: '[REDACTED]' } },
    },
    {
      name: 'a file with a byte order mark',
      ask: scanFile({ name: 'a.json', content: '\ufeff{"a":1}' }),
      has: { decision: 'allow', mode: 'structured', size_bytes: 10 },
    },
    {
      name: 'an upload',
      ask: upload([
        { name: 'agent_id', content: 'uploader' },
        { name: 'file', filename: 'notes.txt', content: `My number is ${SSN}` },
      ]),
      has: { decision: 'modify', mode: 'text', modified_text: 'My number is [REDACTED]' },
    },
    {
      name: 'an upload of JSON',
      ask: upload([{ name: 'f', filename: 'd.json', content: JSON.stringify({ deep: { key: KEY } }) }]),
      has: { decision: 'block', mode: 'structured', violations: [{ path: '$.deep.key' }] },
    },
    {
      name: 'a file of the server',
      ask: scanFile({ path: join(roots, 'notes.txt') }),
      has: { decision: 'block', mode: 'text' },
      forbidden: [scratch],
    },
    {
      name: 'a file of the server, relative to the root',
      ask: scanFile({ path: 'data.json' }),
      has: { decision: 'block', mode: 'structured', violations: [{ path: '$.deep[0].key' }] },
    },
    {
      name: 'a link that stays inside',
      ask: scanFile({ path: 'inner.txt' }),
      has: { decision: 'block' },
    },
    ...[
      'missing.txt',
      '../outside.txt',
      'folder/../../outside.txt',
      join(scratch, 'outside.txt'),
      '/etc/passwd',
      'link.txt',
      'folder',
      '.',
      `${roots}-other/x`,
      'notes.txt\0.png',
      'notes.txt/x',
      `${'a/'.repeat(2000)}b`,
    ].map(
      (path): Scenario => ({
        name: `no file below the roots: ${path.slice(0, 30)}`,
        ask: scanFile({ path }),
        status: 404,
        has: { code: 'not_found', error: 'There is no such file below `scan.file_roots`.' },
        forbidden: [scratch],
      }),
    ),
    {
      name: 'a file that is no UTF-8',
      ask: scanFile({ path: 'latin.txt' }),
      status: 400,
      has: { code: 'invalid_request' },
    },
    {
      name: 'an upload that is no UTF-8',
      ask: upload([{ name: 'f', filename: 'a.txt', content: Buffer.from([0xff, 0xfe, 0x00]) }]),
      status: 400,
      has: { code: 'invalid_request' },
    },
    {
      name: 'base64 that is none',
      ask: scanFile({ name: 'a', content_base64: `${KEY}!` }),
      status: 400,
      has: { details: [{ path: 'content_base64', message: 'must be base64' }] },
      forbidden: [KEY],
    },
    {
      name: 'base64 with something behind its end',
      ask: scanFile({ name: 'a', content_base64: 'YQ==YWJj' }),
      status: 400,
      has: { code: 'invalid_request' },
    },
    {
      name: 'JSON that is none',
      ask: scanFile({ name: 'a.json', content: `{"k": "${KEY}"` }),
      status: 400,
      has: { code: 'invalid_request' },
      forbidden: [KEY],
    },
    {
      name: 'two files at once',
      ask: upload([1, 2].map((n) => ({ name: 'f', filename: `${n}`, content: '' }))),
      status: 400,
    },
    { name: 'an upload without a file', ask: upload([{ name: 'f', content: 'x' }]), status: 400 },
    { name: 'no file at all', ask: scanFile({ name: 'a.txt' }), status: 400 },
    { name: 'two sources of a file', ask: scanFile({ content: 'a', path: 'notes.txt' }), status: 400 },
    {
      name: 'a harmless call is allowed',
      ask: tool({ tool: 'send_mail', input: { subject: 'Report' }, agent_id: 'a1', session_id: 's1' }),
      has: { decision: 'allow', tool: 'send_mail', agent_id: 'a1', phase: 'request', violations: [] },
      lacks: ['modified_input', 'modified_output', 'stripped_fields'],
    },
    {
      name: 'arguments are always looked at',
      ask: tool({ tool: 'send_mail', input: { body: `Use ${KEY}` }, data_tags: [] }),
      has: {
        decision: 'block',
        agent_id: 'unknown',
        violations: [{ type: 'secret_detected', detector: 'api_key', path: '$.body' }],
      },
      forbidden: ['"match"', KEY],
    },
    {
      name: 'a call without arguments',
      ask: tool({ tool: 'ping' }),
      has: { decision: 'allow', phase: 'request' },
    },
    {
      name: 'a secret in a result is masked',
      ask: tool({ tool: 'read_file', phase: 'response', output: { text: `Use ${KEY}` } }),
      has: { decision: 'modify', phase: 'response', modified_output: { text: 'Use [REDACTED]' } },
      lacks: ['modified_input'],
      forbidden: [KEY],
    },
    {
      name: 'a result may be a text',
      ask: tool({ tool: 'read_file', phase: 'response', output: `Use ${KEY}` }),
      has: { decision: 'modify', modified_output: 'Use [REDACTED]' },
    },
    {
      name: 'a contract takes away what it does not know',
      ask: tool({ tool: 'lookup', input: { id: 7, debug: true } }),
      has: { decision: 'modify', modified_input: { id: 7 }, stripped_fields: ['$.debug'] },
    },
    {
      name: 'a contract takes away what a result should not have',
      ask: tool({ tool: 'lookup', phase: 'response', output: { name: 'Jane', salary: 1 } }),
      has: { decision: 'modify', modified_output: { name: 'Jane' }, stripped_fields: ['$.salary'] },
    },
    {
      name: 'a contract refuses data that it does not accept',
      ask: tool({ tool: 'lookup', input: { id: 7 }, data_tags: ['secret.credential'] }),
      has: { decision: 'block' },
    },
    {
      name: 'declared tags are compared in lower case',
      ask: tool({ tool: 'x', input: {}, data_tags: ['Secret.Credential'] }),
      has: { decision: 'block' },
    },
    {
      name: 'a result without a result',
      ask: tool({ tool: 'x', phase: 'response' }),
      status: 400,
      has: { details: [{ path: 'output' }] },
    },
    {
      name: 'a result that is null',
      ask: tool({ tool: 'x', phase: 'response', output: null }),
      has: { decision: 'allow' },
    },
    {
      name: 'a message between agents',
      ask: message({ message: 'The order has shipped.', source_agent_id: 'a', destination_agent_id: 'b' }),
      has: { decision: 'allow', source_agent_id: 'a', destination_agent_id: 'b', data_tags: [] },
      lacks: ['modified_message'],
    },
    {
      name: 'a message with a key in it',
      ask: message({
        message: `Use ${KEY}`,
        source_agent_id: 'a',
        destination_agent_id: 'b',
        data_tags: ['Internal'],
      }),
      has: { decision: 'block' },
      forbidden: [KEY],
    },
    ...[
      {},
      { source_agent_id: 'a' },
      { destination_agent_id: 'b' },
      { source_agent_id: ' ', destination_agent_id: 'b' },
    ].map(
      (names): Scenario => ({
        name: `a message must name both agents: ${Object.keys(names)}`,
        ask: message({ message: 'hi', ...names }),
        status: 400,
        has: { code: 'agent_context_required' },
      }),
    ),
  ],
};

const gateway: Service = {
  options: {
    mode: 'gateway',
    rules: [
      {
        name: 'no-mail-for-billing',
        boundary: 'action',
        action: 'block',
        condition: { agents: ['billing'], tools: ['send_mail'] },
      },
      {
        name: 'globex-blocks-mail',
        boundary: 'input',
        data_tags: ['personal.pii'],
        action: 'block',
        tenant_id: 'globex',
      },
    ],
    tenants: {
      acme: [{ name: 'acme-allows', boundary: 'input', data_tags: ['personal.pii'], action: 'allow' }],
    },
  },
  scenarios: [
    {
      name: 'a call by nobody',
      ask: tool({ tool: 'send_mail' }),
      status: 400,
      has: { code: 'agent_context_required' },
    },
    {
      name: 'a call by a blank agent',
      ask: tool({ tool: 'send_mail', agent_id: '  ' }),
      status: 400,
      has: { code: 'agent_context_required' },
    },
    {
      name: 'a call by an agent',
      ask: tool({ tool: 'send_mail', agent_id: 'support' }),
      has: { decision: 'allow', agent_id: 'support' },
    },
    {
      name: 'a call by a source',
      ask: tool({ tool: 'send_mail', source_agent_id: 'billing' }),
      has: { decision: 'block', rule: 'no-mail-for-billing', agent_id: 'billing' },
    },
    { name: 'a scan needs no agent', ask: input({ text: 'hi' }), has: { decision: 'allow' } },
    { name: 'the global rules without a tenant', ask: input({ text: EMAIL }), has: { decision: 'modify' } },
    {
      name: 'the tenant in the body',
      ask: input({ text: EMAIL, tenant_id: 'acme' }),
      has: { decision: 'allow', rule: 'acme-allows' },
    },
    {
      name: 'the tenant in the context',
      ask: input({ text: EMAIL, context: { tenant_id: 'globex' } }),
      has: { decision: 'block', rule: 'globex-blocks-mail' },
    },
    {
      name: 'the tenant in the header',
      ask: input({ text: EMAIL }, { 'x-service-tenant': 'acme' }),
      has: { decision: 'allow' },
    },
    {
      name: 'the body comes before the header',
      ask: input({ text: EMAIL, tenant_id: 'globex' }, { 'x-service-tenant': 'acme' }),
      has: { decision: 'block' },
    },
    {
      name: 'a tenant without rules',
      ask: input({ text: EMAIL, tenant_id: 'other' }),
      has: { decision: 'modify' },
    },
    {
      name: 'a tenant allows personal data, never a secret beside it',
      ask: input({ text: `${EMAIL} ${KEY}`, tenant_id: 'acme' }),
      has: { decision: 'block' },
    },
    {
      name: 'a header that is none',
      ask: input({ text: 'x' }, { 'x-service-tenant': 'a'.repeat(257) }),
      status: 400,
      has: { code: 'invalid_request' },
    },
  ],
};

for (const [name, { options, scenarios }] of Object.entries({ sidecar, gateway })) {
  test(`checks over HTTP, ${name}`, async () => {
    const service = await serve({ ...options, state_dir: scratch });
    let ran = 0;
    try {
      for (const scenario of scenarios) {
        const before = service.events.length;
        const answer = await service.ask(scenario.ask);
        const note = `${scenario.name}: ${answer.status} ${answer.text.slice(0, 600)}`;
        const status = scenario.status ?? 200;
        assert.equal(answer.status, status, note);
        assert.match(String(answer.headers['content-type']), /^application\/json/, note);
        assert.partialDeepStrictEqual(answer.json, scenario.has ?? {}, note);
        for (const field of scenario.lacks ?? []) assert.ok(!(field in answer.json), `${field} in ${note}`);
        for (const text of scenario.forbidden ?? []) assert.ok(!answer.text.includes(text), note);
        if (status === 200) assertVerdict(answer.json, note);
        else assertError(answer.json, note);
        const expected = scenario.events ?? (status === 200 ? 1 : 0);
        assert.equal(service.events.length - before, expected, note);
        ran++;
      }
    } finally {
      await service.close();
    }
    assert.equal(ran, scenarios.length);
    const recorded = JSON.stringify(service.events);
    for (const secret of [KEY, SSN, EMAIL, 'p4ssw0rd']) assert.ok(!recorded.includes(secret), secret);
    assert.deepEqual(service.logged, []);
  });
}

function assertVerdict(body: Record<string, unknown>, note: string): void {
  assert.ok(['allow', 'block', 'modify'].includes(body.decision as string), note);
  assert.ok(Array.isArray(body.violations), note);
  assert.ok(Number.isInteger(body.scan_duration_ms), note);
  for (const field of ['rule', 'reason', 'event_id', 'coverage'])
    assert.equal(typeof body[field], 'string', note);
  for (const one of body.violations as Record<string, unknown>[]) {
    for (const field of ['type', 'detector', 'severity']) assert.equal(typeof one[field], 'string', note);
  }
}

function assertError(body: Record<string, unknown>, note: string): void {
  assert.equal(typeof body.error, 'string', note);
  assert.equal(typeof body.code, 'string', note);
  assert.equal(typeof body.request_id, 'string', note);
  assert.ok(!('decision' in body), note);
}

test('who is meant reaches the audit trail', async () => {
  const service = await serve({ state_dir: scratch, mode: 'gateway' });
  try {
    await service.ask(
      tool({ tool: 't', agent_id: 'a', session_id: 's', destination_agent_id: 'd', tenant_id: 'acme' }),
    );
    await service.ask(tool({ tool: 't', source_agent_id: 'src', context: { session_id: 's2' } }));
    await service.ask(input({ text: 'x', agent_id: 'a', context: { tool: 'u', session_id: 's3' } }));
  } finally {
    await service.close();
  }
  const common = { caller_id: 'loopback' };
  assert.partialDeepStrictEqual(service.events, [
    {
      ...common,
      boundary: 'action',
      tenant_id: 'acme',
      agent_id: 'a',
      source_agent_id: 'a',
      destination_agent_id: 'd',
      session_id: 's',
      tool_name: 't',
    },
    {
      ...common,
      tenant_id: 'default',
      agent_id: 'src',
      source_agent_id: 'src',
      destination_agent_id: 't',
      session_id: 's2',
    },
    { ...common, boundary: 'input', agent_id: 'a', session_id: 's3', tool_name: 'u', source_agent_id: null },
  ]);
});
