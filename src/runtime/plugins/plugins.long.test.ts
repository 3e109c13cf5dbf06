import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { loadConfig } from '../../server/load-config.ts';
import type { Config } from '../config/index.ts';
import { loadConfiguredPolicy, reloadConfiguredPolicy } from '../policies/load.ts';
import { loadConfiguredPlugins, loadPolicy } from '../policies/load-policy.ts';
import { validateConfiguration } from '../policies/validate.ts';
import { findBrokenPlugins } from './excluded-plugins.ts';
import { NO_PLUGINS } from './types.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'plugins-')));
process.env.SERVICE_TRUSTED_PLUGINS = root;
after(() => rmSync(root, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

const SETTINGS = 'plugins: {files: [plugins/*], timeout_ms: 1000}\n';

function createFolder(files: Files, settings = SETTINGS): string {
  const dir = mkdtempSync(join(root, 'case-'));
  for (const [name, text] of Object.entries({ 'service.yaml': settings, ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

async function loadTestConfig(cwd: string): Promise<Config> {
  const read = await loadConfig({ path: null, cwd, env: {} });
  assert.ok(read.ok, JSON.stringify(read));
  return read.config;
}

const TICKETS = {
  name: 'acme-tickets',
  version: '1.2.3',
  detectors: [
    {
      id: 'acme.ticket',
      pattern: 'TKT-[0-9]{4,10}',
      tags: ['internal.ticket'],
      severity: 'medium',
      description: 'Tickets.',
      examples: { hits: ['see «TKT-1234»'], misses: ['TKT-12'] },
    },
  ],
  templates: [
    {
      name: 'acme-tickets',
      description: 'Keeps tickets in.',
      document: {
        version: 'v1alpha1',
        policies: [
          { name: 'no-tickets', boundary: 'output', data_tags: ['internal.ticket'], action: 'redact' },
        ],
      },
    },
  ],
};

const exporting = (value: unknown): string => `export default ${JSON.stringify(value)};\n`;
const GOOD = exporting(TICKETS);
const withDetector = (change: object): string =>
  exporting({ ...TICKETS, detectors: [{ ...TICKETS.detectors[0], ...change }] });

const DIALECT = {
  name: 'acme-agent',
  events: {
    tool: {
      checks: [{ kind: 'call', tool: 't', content: '{/args}' }],
      deny: { stderr: '{reason}', code: 2 },
    },
  },
  examples: [{ payload: { args: 1 }, checks: [{ kind: 'call', tool: 't', content: 1 }] }],
};
const ADAPTER = {
  name: 'acme-gateway',
  events: { prompt: { checks: [{ kind: 'prompt', content: '{/text}' }], deny: { ok: false } } },
  pass: { ok: true },
  examples: [{ payload: { text: 'a' }, checks: [{ kind: 'prompt', content: 'a' }] }],
};

/** Excluded plug-ins, each next to a valid one, with the expected reason. */
const BAD: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ['throws', 'throw new Error("no luck");', /threw when it was loaded \(Error: no luck\)/],
  ['is no JavaScript', 'export default {', /threw when it was loaded \(SyntaxError/],
  ['throws what is no error', 'throw null;', /threw when it was loaded \(null\)/],
  ['hangs', 'for (;;);', /was not loaded within 1000 ms/],
  [
    'waits for ever',
    'setInterval(() => {}, 1000); await new Promise(() => {});',
    /was not loaded within 1000 ms/,
  ],
  ['hangs where it is read', 'export default { get name() { for (;;); } };', /was not loaded within 1000 ms/],
  ['ends the process', 'process.exit(0);', /ended before it gave its records/],
  [
    'takes all memory',
    'const a = []; for (;;) a.push(new Array(1e5).fill(Math.random()));',
    /MB of memory|within 1000 ms/,
  ],
  ['gives nothing', 'export const name = 1;', /has no default export/],
  ['gives a list', 'export default [];', /must be a mapping/],
  [
    'has a validator',
    `const own = ${JSON.stringify(TICKETS)}; own.detectors[0].validate = () => { for (;;); }; export default own;`,
    /has a function as `validate`/,
  ],
  [
    'has a regular expression',
    `const own = ${JSON.stringify(TICKETS)}; own.detectors[0].pattern = /TKT-/; export default own;`,
    /has a regular expression as `pattern`/,
  ],
  ['has no name', exporting({ version: '1.0.0' }), /`name` is missing/],
  [
    'has a key that nothing takes',
    exporting({ ...TICKETS, adaptors: [] }),
    /unknown key `adaptors`.*`adapters`/,
  ],
  [
    'has a pattern without an anchor',
    withDetector({ pattern: '[0-9]{4}' }),
    /3 or more fixed characters in a row/,
  ],
  ['has a pattern that is none', withDetector({ pattern: 'TKT-(' }), /is not a valid RE2 pattern/],
  ['has a hit that is no hit', withDetector({ examples: { hits: ['TKT'] } }), /hits\[0\]` is not found/],
  [
    'has a miss that is a hit',
    withDetector({ examples: { hits: ['TKT-1234'], misses: ['TKT-1234'] } }),
    /misses\[0\]` is found/,
  ],
  ['has a check that is none', withDetector({ checks: ['lun'] }), /did you mean `luhn`/],
  ['takes the id of what is built in', withDetector({ id: 'github.token' }), /`detectors\[0\].id` is taken/],
  [
    'has two of one id',
    exporting({ ...TICKETS, detectors: [TICKETS.detectors[0], TICKETS.detectors[0]] }),
    /`detectors\[1\].id` is taken/,
  ],
  [
    'takes the name of a template',
    exporting({ ...TICKETS, templates: [{ ...TICKETS.templates[0], name: 'finance' }] }),
    /`templates\[0\].name` is taken/,
  ],
  [
    'takes the name of a coding agent',
    exporting({ ...TICKETS, dialects: [{ ...DIALECT, name: 'cursor' }] }),
    /`dialects\[0\].name` is taken by another dialect/,
  ],
  [
    'has a dialect that stops nobody',
    exporting({
      ...TICKETS,
      dialects: [{ ...DIALECT, events: { tool: { ...DIALECT.events.tool, deny: { code: 1 } } } }],
    }),
    /deny` blocks nothing/,
  ],
  [
    'has an answer that is no mapping',
    exporting({ ...TICKETS, adapters: [{ ...ADAPTER, pass: 'yes' }] }),
    /`adapters\[0\].pass` must be a mapping/,
  ],
  [
    'has two adapters of one name',
    exporting({ ...TICKETS, adapters: [ADAPTER, ADAPTER] }),
    /`adapters\[1\].name` is taken/,
  ],
  [
    'has a dialect with a function',
    `const own = ${JSON.stringify({ ...TICKETS, dialects: [DIALECT] })}; own.dialects[0].recognises = () => true; export default own;`,
    /has a function as `recognises`/,
  ],
  [
    'is nested too deep',
    `let deep = 1; for (let i = 0; i < 4000; i += 1) deep = [deep];
     const payload = { args: deep };
     const own = ${JSON.stringify({ ...TICKETS, dialects: [DIALECT] })};
     own.dialects[0].examples = [{ payload, checks: [{ kind: 'call', tool: 't', content: deep }] }];
     export default own;`,
    /nested too deep|RangeError/,
  ],
  [
    'has a template that does not compile',
    exporting({
      ...TICKETS,
      templates: [{ ...TICKETS.templates[0], document: { policies: [{ name: 'x' }] } }],
    }),
    /is missing/,
  ],
];

const OTHER = exporting({ name: 'other', version: '0.0.1' });

test('a plug-in with any error is excluded with the reason, and the next one is not', async () => {
  for (const [what, text, stated] of expectRows(29, BAD)) {
    const { plugins, patterns, templates } = await loadConfiguredPlugins(
      await loadTestConfig(createFolder({ 'plugins/a-bad.mjs': text, 'plugins/b-good.mjs': OTHER })),
    );
    const [bad, good] = plugins;
    assert.deepEqual([bad?.status, bad?.detectors, good?.status], ['rejected', [], 'active'], what);
    assert.match(
      JSON.stringify(bad?.problems.map(({ message }) => message)).replaceAll('\\"', '"'),
      stated,
      what,
    );
    assert.deepEqual([patterns, templates], [[], []], what);
  }
});

test('a good one is in the policy, in the list of templates, and found by what it looks for', async () => {
  const dir = createFolder({ 'plugins/tickets.mjs': GOOD, 'plugins/tickets.test.mjs': 'throw new Error();' });
  const made = await loadPolicy(await loadTestConfig(dir));
  assert.ok(made.ok, JSON.stringify(made));
  assert.deepEqual(
    made.policy.detection.patterns.map(({ id }) => id),
    ['acme.ticket'],
  );
  assert.deepEqual(
    made.plugins.templates.map(({ name }) => name),
    ['acme-tickets'],
  );
  const [report] = made.plugins.plugins;
  assert.equal(made.plugins.plugins.length, 1, 'its test is no plug-in');
  assert.deepEqual(
    [report?.name, report?.version, report?.from, report?.status, report?.sha256?.length],
    ['acme-tickets', '1.2.3', 'plugins/tickets.mjs', 'active', 64],
  );
  assert.deepEqual(made.warnings, []);
});

test('dialects and adapters are had as they were written, and the first of two of one name', async () => {
  const ways = { dialects: [DIALECT], adapters: [ADAPTER] };
  const first = exporting({ name: 'first', version: '1.0.0', ...ways });
  const second = exporting({ name: 'second', version: '1.0.0', ...ways });
  const loaded = await loadConfiguredPlugins(
    await loadTestConfig(createFolder({ 'plugins/a.mjs': first, 'plugins/b.mjs': second })),
  );
  assert.deepEqual([loaded.dialects, loaded.adapters], [[DIALECT], [ADAPTER]]);
  assert.deepEqual(
    loaded.plugins.map(({ status, dialects, adapters }) => [status, dialects, adapters]),
    [
      ['active', ['acme-agent'], ['acme-gateway']],
      ['rejected', [], []],
    ],
  );
});

test('the policy hash depends on the detectors, not on their source', async () => {
  const written = JSON.stringify({ patterns: TICKETS.detectors });
  const own = await loadPolicy(await loadTestConfig(createFolder({}, `detection: ${written}\n`)));
  const plugged = await loadPolicy(await loadTestConfig(createFolder({ 'plugins/tickets.mjs': GOOD })));
  const none = await loadPolicy(await loadTestConfig(createFolder({})));
  assert.ok(own.ok && plugged.ok && none.ok);
  assert.equal(plugged.policy.hash, own.policy.hash);
  assert.notEqual(plugged.policy.hash, none.policy.hash);
});

test('of two that take one name the first has it, and the configuration has it before both', async () => {
  const renamed = exporting({ ...TICKETS, name: 'later', templates: [] });
  const two = await loadConfiguredPlugins(
    await loadTestConfig(createFolder({ 'plugins/a.mjs': GOOD, 'plugins/b.mjs': renamed })),
  );
  assert.deepEqual(
    two.plugins.map(({ name, status }) => [name, status]),
    [
      ['acme-tickets', 'active'],
      ['later', 'rejected'],
    ],
  );
  const written = JSON.stringify({ patterns: TICKETS.detectors });
  const own = createFolder({ 'plugins/a.mjs': GOOD }, `${SETTINGS}detection: ${written}\n`);
  const made = await loadPolicy(await loadTestConfig(own));
  assert.ok(made.ok);
  assert.equal(made.plugins.plugins[0]?.status, 'rejected');
  assert.equal(made.policy.detection.patterns.length, 1);
});

test('packages are found next to the configuration, by the file that an import resolves to', async () => {
  const packages: Files = {
    'node_modules/plain/package.json': '{"name": "plain", "main": "main.cjs"}',
    'node_modules/plain/main.cjs': `module.exports = ${JSON.stringify({ ...TICKETS, name: 'plain' })};`,
    'node_modules/@acme/esm/package.json':
      '{"name": "@acme/esm", "type": "module", "exports": {".": {"types": "./a.d.ts", "import": "./lib/a.js"}}}',
    'node_modules/@acme/esm/lib/a.js': exporting({ name: 'esm', version: '1.0.0' }),
    'node_modules/away/package.json': '{"name": "away", "main": "../../service.yaml"}',
  };
  const dir = createFolder(packages, 'plugins: {packages: [plain, "@acme/esm", away, nowhere]}\n');
  const { plugins } = await loadConfiguredPlugins(await loadTestConfig(dir));
  assert.deepEqual(
    plugins.map(({ name, kind, from, status }) => [name, kind, from, status]),
    [
      ['plain', 'package', 'plain', 'active'],
      ['esm', 'package', '@acme/esm', 'active'],
      ['away', 'package', 'away', 'rejected'],
      ['nowhere', 'package', 'nowhere', 'rejected'],
    ],
  );
});

test('TypeScript is taken, the environment is not seen, and what is printed goes nowhere', async () => {
  process.env.PLUGINS_TEST = 'seen';
  const text = `const seen: string = process.env.PLUGINS_TEST ?? 'unseen'; console.log('loud');
    export default { name: seen, version: '1.0.0' } satisfies object;`;
  const { plugins } = await loadConfiguredPlugins(
    await loadTestConfig(createFolder({ 'plugins/a.ts': text })),
  );
  delete process.env.PLUGINS_TEST;
  assert.deepEqual(
    plugins.map(({ name, status }) => [name, status]),
    [['unseen', 'active']],
  );
});

test('what everyone can write is not run', async () => {
  const dir = createFolder({ 'plugins/a.mjs': GOOD });
  const config = await loadTestConfig(dir);
  const statuses = async () => (await loadConfiguredPlugins(config)).plugins.map(({ status }) => status);
  assert.deepEqual(await statuses(), ['active']);
  chmodSync(join(dir, 'plugins/a.mjs'), 0o666);
  assert.deepEqual(await statuses(), ['rejected']);
  chmodSync(join(dir, 'plugins/a.mjs'), 0o644);
  chmodSync(join(dir, 'plugins'), 0o777);
  assert.deepEqual(await statuses(), ['rejected']);
  chmodSync(join(dir, 'plugins'), 0o755);
  assert.deepEqual(await statuses(), ['active']);
});

test('validate says no where one is left out, and a start reports it and continues', async () => {
  const dir = createFolder(
    { 'plugins/a.mjs': 'throw new Error("no luck");' },
    `${SETTINGS}detection: {detectors: {acme.ticket: {severity: high}}}\n`,
  );
  const validation = await validateConfiguration({ path: null, cwd: dir, env: {} }, loadConfig);
  assert.equal(validation.valid, false);
  assert.match(JSON.stringify(validation.problems), /no luck/);
  const made = await loadPolicy(await loadTestConfig(dir));
  assert.ok(made.ok, 'a setting of a detector that is left out stops no start');
  assert.match(JSON.stringify(made.warnings), /no luck.*left out/);
  writeFileSync(join(dir, 'plugins/a.mjs'), GOOD);
  const mended = await validateConfiguration({ path: null, cwd: dir, env: {} }, loadConfig);
  assert.deepEqual([mended.valid, mended.counts?.plugins, mended.counts?.patterns], [true, 1, 1]);
});

test('a reload refuses to lose a plug-in that breaks, and removes one that is no longer named', async () => {
  const dir = createFolder({ 'plugins/a.mjs': GOOD, 'plugins/b.mjs': OTHER });
  const request = { path: null, cwd: dir, env: {} };
  const running = await loadConfiguredPolicy(request, loadConfig);
  assert.ok(running.ok);
  writeFileSync(join(dir, 'plugins/a.mjs'), 'throw new Error("no luck");');
  const broken = await reloadConfiguredPolicy(request, loadConfig, running.config, running);
  assert.ok(!broken.ok);
  assert.match(JSON.stringify(broken.problems), /no luck/);
  rmSync(join(dir, 'plugins/a.mjs'));
  const away = await reloadConfiguredPolicy(request, loadConfig, running.config, running);
  assert.ok(away.ok, JSON.stringify(away));
  assert.deepEqual(away.policy.detection.patterns, []);
  rmSync(join(dir, 'plugins/b.mjs'));
  const gone = await reloadConfiguredPolicy(request, loadConfig, running.config, running);
  assert.ok(!gone.ok, 'a folder that is empty all at once was hardly meant');
  writeFileSync(join(dir, 'service.yaml'), '{}');
  assert.ok((await reloadConfiguredPolicy(request, loadConfig, running.config, running)).ok);
});

test('one that was left out before may stay so', async () => {
  const leftOut = await loadConfiguredPlugins(
    await loadTestConfig(createFolder({ 'plugins/a.mjs': 'throw 1;' })),
  );
  assert.deepEqual(findBrokenPlugins(leftOut, leftOut), []);
  assert.deepEqual(findBrokenPlugins(NO_PLUGINS, leftOut), []);
});
