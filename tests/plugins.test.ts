/** Plug-ins with real processes: two workers, the command line, the example, and faults while the service runs. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';

const ORDER = {
  name: 'orders',
  version: '2.0.0',
  detectors: [
    {
      id: 'acme.order',
      pattern: 'ORD-[0-9]{6}',
      tags: ['internal.order'],
      severity: 'low',
      description: 'Orders.',
      examples: { hits: ['ORD-123456'], misses: ['ORD-12'] },
    },
  ],
};
const exporting = (value: unknown): string => `export default ${JSON.stringify(value)};\n`;

const PLUGINS = { files: ['plugins/*.mjs'], packages: ['customshouse-plugin-example'], timeout_ms: 5000 };
/** Blocks its thread without load, so that it takes no time from the good plug-ins next to it. */
const HANG = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
const POLICIES = [
  { name: 'mask', boundary: 'input', data_tags: ['internal'], action: 'redact' },
  { name: 'mask-answers', boundary: 'output', data_tags: ['internal'], action: 'redact' },
];
const TEXT = 'of ACME-79927398713, ACME-79927398714 and ORD-123456';
const MASKED = 'of ACME-[REDACTED], ACME-79927398714 and [REDACTED]';

let service: TestService;
let base: Record<string, unknown> = {};
before(async () => {
  service = await startTestService({
    keep: true,
    workers: 2,
    config: { policies: POLICIES, plugins: PLUGINS },
    files: {
      'plugins/orders.mjs': exporting(ORDER),
      'plugins/throws.mjs': 'throw new Error("no luck");',
      'plugins/hangs.mjs': HANG,
      'plugins/reading-hangs.mjs': `export default { get detectors() { ${HANG} } };`,
      'plugins/taken.mjs': exporting({ ...ORDER, name: 'taken' }),
      'plugins/misshapen.mjs': exporting({ ...ORDER, name: 'misshapen', adaptors: [] }),
      'node_modules/customshouse-plugin-example/package.json': readFileSync(
        join(root, 'examples/plugin-detector/package.json'),
        'utf8',
      ),
      'node_modules/customshouse-plugin-example/index.js': readFileSync(
        join(root, 'examples/plugin-detector/index.js'),
        'utf8',
      ),
    },
  });
  base = { server: { port: service.port, workers: 2 }, policies: POLICIES };
});
after(async () => {
  await service.stop();
  rmSync(service.dir, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
type Body = any;

async function ask(path: string, body?: unknown): Promise<Body> {
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}${path}`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}`, connection: 'close' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return answer.json();
}

/** Sends enough requests that both workers answer, and returns their common answer. */
async function everyWorker<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: 12 }, question));
  for (const answer of answers) assert.deepEqual(answer, answers[0], 'all workers answer alike');
  return answers[0]!;
}

const modified = (text: string): Promise<unknown> =>
  everyWorker(async () => (await ask('/v1/scan/input', { text })).modified_text ?? null);

async function cli(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return runProgram([join(root, 'service'), ...words], { cwd: service.dir, env: ownNodeEnvironment() });
}

function configure(change: Record<string, unknown>): Promise<Body> {
  writeFileSync(join(service.dir, 'service.yaml'), stringify({ ...base, plugins: PLUGINS, ...change }));
  return ask('/v1/policies/reload', {});
}

test('the service starts with those that are good, and says of each other why it is left out', async () => {
  const { count, plugins, adapters } = await everyWorker(() => ask('/v1/plugins'));
  const told = new Map(plugins.map((each: Body) => [each.path, [each.status, each.problems.join(' ')]]));
  assert.deepEqual([count, told.size, adapters], [7, 7, []]);
  const expected: readonly (readonly [path: string, status: string, reason: RegExp])[] = [
    ['plugins/orders.mjs', 'active', /^$/],
    ['customshouse-plugin-example', 'active', /^$/],
    ['plugins/throws.mjs', 'rejected', /no luck/],
    ['plugins/hangs.mjs', 'rejected', /within 5000 ms/],
    ['plugins/reading-hangs.mjs', 'rejected', /within 5000 ms/],
    ['plugins/taken.mjs', 'rejected', /taken by another detector/],
    ['plugins/misshapen.mjs', 'rejected', /unknown key `adaptors`/],
  ];
  for (const [path, status, reason] of expected) {
    const [is, why] = told.get(path) as [string, string];
    assert.equal(is, status, path);
    assert.match(why, reason, path);
    if (status === 'rejected') assert.ok(service.logs().includes(`The plug-in ${path} is left out.`), path);
  }
  // Each later command and reload would wait for them again.
  for (const name of ['hangs', 'reading-hangs']) rmSync(join(service.dir, `plugins/${name}.mjs`));
});

test('what they look for is found by every worker, at the command line, and nowhere without them', async () => {
  assert.equal(await modified(TEXT), MASKED);
  const guarded = await ask('/v1/guard/output', { text: TEXT });
  assert.equal(guarded.guarded_text ?? guarded.modified_text ?? guarded.text, MASKED);
  const { stdout } = await cli('scan', TEXT, '--json');
  assert.match(stdout, /acme\.customer_number/);
  assert.match(stdout, /acme\.order/);
});

test('their templates are in the list and can be shown', async () => {
  const { templates } = await everyWorker(() => ask('/v1/policies/templates'));
  assert.deepEqual(
    templates.filter(({ source }: Body) => source === 'plugin').map(({ name }: Body) => name),
    ['acme-customers'],
  );
  const shown = await ask('/v1/policies/templates/acme-customers');
  assert.equal(shown.policies[0].name, 'acme-customers-stay-in');
  assert.match((await cli('templates', 'show', 'acme-customers')).stdout, /acme-customers-stay-in/);
});

test('the command line lists them as the service has them, and validate says no', async () => {
  const list = await cli('plugins', 'list');
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /^orders +2\.0\.0 +active +1 +0 +plugins\/orders\.mjs$/m);
  assert.match(list.stderr, /no luck/);
  const validated = await cli('validate');
  assert.equal(validated.code, 1);
  assert.match(validated.stderr, /no luck/);
});

test('one that breaks while the service runs is kept as it was, and one that is removed is gone', async () => {
  writeFileSync(join(service.dir, 'plugins/orders.mjs'), 'throw new Error("broken now");');
  const refused = await ask('/v1/policies/reload', {});
  assert.match(JSON.stringify(refused), /broken now/);
  assert.equal(await modified(TEXT), MASKED, 'what was there stays');
  const still = await ask('/v1/plugins');
  assert.equal(still.plugins.find(({ path }: Body) => path === 'plugins/orders.mjs').status, 'active');
  writeFileSync(join(service.dir, 'plugins/orders.mjs'), exporting({ ...ORDER, version: '2.0.1' }));
  for (const name of ['throws', 'taken', 'misshapen']) rmSync(join(service.dir, `plugins/${name}.mjs`));
  assert.equal((await ask('/v1/policies/reload', {})).reloaded ?? true, true);
  const { plugins } = await everyWorker(() => ask('/v1/plugins'));
  assert.deepEqual(
    plugins.map(({ name, version }: Body) => [name, version]),
    [
      ['orders', '2.0.1'],
      ['acme', '1.0.0'],
    ],
  );
  assert.equal((await cli('validate')).code, 0);
  await configure({ plugins: {} });
  assert.equal(await modified(TEXT), null);
  assert.deepEqual(await everyWorker(() => ask('/v1/plugins')), { count: 0, plugins: [], adapters: [] });
});

test('a pattern of the configuration is found from its reload on, and not any more from its removal', async () => {
  const pattern = {
    ...ORDER.detectors[0],
    checks: ['luhn'],
    examples: { hits: ['ORD-«123455»'.replace(/[«»]/g, '')] },
  };
  await configure({ plugins: {}, detection: { patterns: [pattern] } });
  assert.equal(await modified('ORD-123455 and ORD-123456'), '[REDACTED] and ORD-123456');
  await configure({ plugins: {} });
  assert.equal(await modified('ORD-123455 and ORD-123456'), null);
});

test('the example passes its own test, and one with a mistake does not', async () => {
  const copy = join(service.dir, 'example');
  cpSync(join(root, 'examples/plugin-detector'), copy, { recursive: true });
  const env = { ...ownNodeEnvironment(), SERVICE: join(root, 'service') };
  const good = await runProgram([process.execPath, '--test'], { cwd: copy, env });
  assert.equal(good.code, 0, good.stdout);
  assert.match(good.stdout, /pass 1/);
  mkdirSync(join(copy, 'test'), { recursive: true });
  writeFileSync(join(copy, 'index.js'), readFileSync(join(copy, 'index.js'), 'utf8').replace("'luhn', ", ''));
  const bad = await runProgram([process.execPath, '--test'], { cwd: copy, env });
  assert.notEqual(bad.code, 0);
  assert.match(bad.stdout, /is found by the pattern/);
});
