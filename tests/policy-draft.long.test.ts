/** `policy draft` from a real MCP server, an API document and recorded calls. Each draft is a policy that loads. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { startHttpServer } from './mcp/servers/over-http.ts';
import type { Script } from './mcp/servers/script.ts';
import { startTestService } from './support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: parts of drafted documents.
type Part = any;

const folder = mkdtempSync(join(tmpdir(), 'policy-draft-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPTED = join(import.meta.dirname, 'mcp', 'servers', 'scripted.ts');
const SHOP = join(import.meta.dirname, 'policy-draft', 'shop.yaml');
const ESCAPE = '\u001b[2J';

const script = {
  tools: [
    {
      name: 'send_letter',
      description: `Sends.${ESCAPE}\n# - tool_name: evil`,
      inputSchema: {
        type: 'object',
        properties: { to: { type: 'string' }, body: { type: 'string' } },
        required: ['to'],
      },
    },
    {
      name: 'get_contacts',
      inputSchema: { type: 'object' },
      outputSchema: {
        type: 'object',
        properties: {
          items: { type: 'array', items: { type: 'object', properties: { email: { type: 'string' } } } },
        },
      },
    },
  ],
};

const draft = (args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = folder) =>
  runInProcess(['policy', 'draft', ...args], { cwd, env });

/** Checks that a draft compiles without a warning. */
async function assertValid(text: string): Promise<Part> {
  const dir = mkdtempSync(join(folder, 'valid-'));
  writeFileSync(join(dir, 'service.yaml'), 'paths: { contract_files: [draft.yaml] }\n');
  writeFileSync(join(dir, 'draft.yaml'), text);
  for (const command of [['validate'], ['policy', 'lint', '--strict']]) {
    const { code, stdout, stderr } = await runInProcess(command, { cwd: dir });
    assert.equal(code, 0, stdout + stderr);
  }
  return parse(text);
}

test('the tools of a program are drafted', async () => {
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script));
  const env = { SCRIPT: join(folder, 'script.json') };
  const command = ['--', process.execPath, SCRIPTED];
  const { code, stdout, stderr } = await draft(['--from', 'mcp', '--prefix', 'mcp__post__', ...command], env);
  assert.equal(code, 0, stderr);
  assert.ok(!`${stdout}${stderr}`.includes(ESCAPE) && !stdout.includes('evil'));
  assert.match(stdout, /# who receives it: only the person, or your contacts and members/);
  assert.match(stderr, /^2 contracts drafted\. Next:\n {2}1\. /);
  const { contracts } = await assertValid(stdout);
  assert.deepEqual(
    contracts.map((each: Part) => each.tool_name),
    ['mcp__post__send_letter', 'mcp__post__get_contacts'],
  );
  assert.deepEqual(contracts[0].flow.arguments.to.any_of, ['user', 'trusted.contacts']);
  assert.equal((await draft(['--from', 'mcp', '--prefix', 'mcp__post__', ...command], env)).stdout, stdout);
  const missing = await draft(['--from', 'mcp', '--', join(folder, 'none')]);
  assert.deepEqual([missing.code, missing.stdout], [2, '']);
  assert.match(missing.stderr, /gave no list of tools\. It cannot be reached/);
});

test('servers over HTTP, by URL and by name', async () => {
  const server = await startHttpServer(script as unknown as Script);
  try {
    writeFileSync(join(folder, 'service.yaml'), `mcp: { servers: [{ name: post, url: '${server.url}' }] }\n`);
    const [byUrl, byName] = [
      await draft(['--from', 'mcp', server.url]),
      await draft(['--from', 'mcp', 'post']),
    ];
    assert.match(byUrl.stdout, /^ {2}- tool_name: send_letter /m, byUrl.stderr);
    assert.match(byName.stdout, /^ {2}- tool_name: post__send_letter /m, byName.stderr);
    assert.deepEqual(server.seen.calls, [], 'no tool is called');
  } finally {
    await server.close();
    rmSync(join(folder, 'service.yaml'));
  }
  const unknown = await draft(['--from', 'mcp', 'post']);
  assert.match(unknown.stderr, /neither a file, nor a URL, nor the name of a server/);
});

test('an API document is drafted into a file, which is kept', async () => {
  const words = ['--from', 'openapi', SHOP, '--out', join('contracts', 'shop.yaml')];
  const { code, stdout, stderr } = await draft(words);
  assert.deepEqual([code, stdout], [0, ''], stderr);
  const path = join(folder, 'contracts', 'shop.yaml');
  const text = readFileSync(path, 'utf8');
  const { contracts } = await assertValid(text);
  const of = Object.fromEntries(contracts.map((each: Part) => [each.tool_name, each]));
  assert.deepEqual(Object.keys(of), [
    'listOrders',
    'createOrder',
    'get_orders_order_id',
    'cancelOrder',
    'refundOrder',
    'sendMessage',
    'register_webhook',
    'list_comments',
  ]);
  assert.deepEqual(Object.keys(of.refundOrder.flow.arguments), [
    'order_id',
    'Idempotency-Key',
    'amount',
    'iban',
    'note',
  ]);
  assert.deepEqual(of.refundOrder.flow.arguments.iban, { any_of: ['user'] });
  assert.deepEqual(of.register_webhook.flow.arguments.callback_url.type, 'url');
  assert.deepEqual(of.register_webhook.flow.arguments.secret, { any_of: ['user'], optional: true });
  assert.equal(of.list_comments.emits.origin, 'untrusted.reviews');
  assert.ok(!JSON.stringify(of.list_comments.emits).includes('author'));
  assert.equal(of.cancelOrder.side_effects.reversible, false);
  assert.equal(of.get_orders_order_id.flow, undefined);
  writeFileSync(path, 'mine');
  const refused = await draft(words);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /exists\.\n.*`--yes`/);
  assert.equal(readFileSync(path, 'utf8'), 'mine');
  assert.equal((await draft([...words, '--yes'])).code, 0);
  assert.equal(readFileSync(path, 'utf8'), text);
});

test('sources over a limit are refused as a whole', async () => {
  const write = (value: unknown): string => {
    writeFileSync(join(folder, 'source.json'), typeof value === 'string' ? value : JSON.stringify(value));
    return 'source.json';
  };
  const tools = Array.from({ length: 10_000 }, (_, at) => ({ name: `get_${at}` }));
  const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--from', 'mcp', write({ tools })], /has 10000 tools, and a draft has at most 1000/],
    [['--from', 'openapi', 'source.json'], /no OpenAPI document of version 3/],
  ];
  for (const [args, message] of rows) {
    const { code, stdout, stderr } = await draft(args);
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, message);
  }
  write(`{"tools":[{"name":"${'a'.repeat(10_485_760)}"}]}`);
  assert.match((await draft(['--from', 'mcp', 'source.json'])).stderr, /source\.json.* (?:10485760|10 MiB)/);
  writeFileSync(join(folder, 'big.yaml'), `openapi: 3.0.0\npaths: {}\nx: ${'a'.repeat(2_100_000)}\n`);
  assert.match((await draft(['--from', 'openapi', 'big.yaml'])).stderr, /more than 2097152 bytes of YAML/);
  for (const args of [
    ['--from', 'mcp'],
    ['--from', 'openapi'],
    ['--from', 'traffic', 'x'],
    ['--from', 'rumours'],
  ])
    assert.equal((await draft(args)).code, 2, args.join(' '));
});

test('recorded calls are drafted, each tool with its agents', async () => {
  const config = { audit: { log_argument_shapes: ['pay_invoice', 'list_mails'] } };
  const service = await startTestService({ config, workers: 1 });
  try {
    const post = (body: object) =>
      fetch(new URL('/v1/intercept/tool', service.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: 'clerk', phase: 'request', ...body }),
      });
    for (const amount of [12, 340])
      await post({ tool: 'pay_invoice', input: { iban: 'DE89370400440532013000', amount } });
    await post({ tool: 'list_mails', input: { limit: 5 } });
    const json = async (...args: string[]) => {
      const { stdout, stderr } = await draft(['--from', 'traffic', '--json', ...args], {}, service.dir);
      return stdout === '' ? stderr : JSON.parse(stdout);
    };
    const { contracts, reasons } = await json();
    assert.deepEqual(
      contracts.map((each: Part) => each.tool_name),
      ['list_mails', 'pay_invoice'],
    );
    const [, pay] = contracts;
    assert.deepEqual(pay.allowed_agents, ['clerk']);
    assert.deepEqual(pay.flow.arguments.iban.any_of, ['user']);
    assert.deepEqual(pay.arguments.properties.amount, { type: 'integer', minimum: 0, maximum: 1000 });
    assert.ok(
      reasons.some(
        ({ tool_name, path }: Part) => tool_name === 'pay_invoice' && path === 'flow.arguments.iban',
      ),
    );
    assert.equal((await json('--tool', 'list_mails')).contracts.length, 1);
    assert.match((await json('--tool', 'never_called')).error, /no tools to draft/);
    const { stdout } = await draft(['--from', 'traffic'], {}, service.dir);
    await assertValid(stdout);
  } finally {
    await service.stop();
  }
});
