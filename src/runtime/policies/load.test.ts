import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { DETECTION } from '../../core/testing/policies.ts';
import { loadConfig } from '../../server/load-config.ts';
import { formatProblem } from '../config/index.ts';
import { type LoadResult, loadConfiguredPolicy, reloadConfiguredPolicy } from './load.ts';
import { validateConfiguration } from './validate.ts';

let root = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'load-'));
});
after(() => rm(root, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

/** Creates a folder with these files. A text that begins with `->` is a link. */
async function createFolder(files: Files): Promise<string> {
  const dir = await mkdtemp(join(root, 'case-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    if (text.startsWith('->')) await symlink(text.slice(2), join(dir, name));
    else await writeFile(join(dir, name), text);
  }
  return dir;
}

const loadIn = (cwd: string): Promise<LoadResult> =>
  loadConfiguredPolicy({ path: null, cwd, env: {} }, loadConfig);
const report = (problems: readonly Parameters<typeof formatProblem>[0][]): string[] =>
  problems.map(formatProblem);

const rule = (name: string, more = ''): string =>
  `{name: ${name}, boundary: input, data_tags: [personal.pii], action: block${more}}`;

test('inline rules come first, then tenants, then documents in the order of their names', async () => {
  const dir = await createFolder({
    'service.yaml': `policies: [${rule('inline')}]\ntenants: {acme: {policies: [${rule('tenant')}]}}\n`,
    'policies/b.yaml': `version: v1alpha1\npolicy: ${rule('from-b')}\n---\npolicies: [${rule('b2')}, ${rule('b3')}]\n---\n# nothing\n`,
    'policies/a.yaml': `{"policy": {"name": "from-a", "boundary": "output", "data_tags": ["x"], "action": "flag"}}`,
    'policies/not.txt': 'nonsense: [',
    'policies/sub.yaml/deep.yaml': 'nonsense: [',
    'contracts/c.yaml':
      'contract: {tool_name: t, accepts: {}, emits: {}, side_effects: {reversible: true, requires_approval: false}}',
    'agents/unread.yaml': 'nonsense: [',
    'schemas/m.yaml': 'memory: {name: m, scope: session, fields: [{name: f, type: string, tag: internal}]}',
  });
  const result = await loadIn(dir);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(
    result.policy.rules.map(({ name, tenant_id }) => [name, tenant_id]),
    [
      ['inline', null],
      ['tenant', 'acme'],
      ['from-a', null],
      ['from-b', null],
      ['b2', null],
      ['b3', null],
    ],
  );
  assert.deepEqual(result.files, [
    'policies/a.yaml',
    'policies/b.yaml',
    'contracts/c.yaml',
    'schemas/m.yaml',
  ]);
  assert.deepEqual(result.warnings, []);
  assert.deepEqual(await validateConfiguration({ path: null, cwd: dir, env: {} }, loadConfig), {
    valid: true,
    config_file: 'service.yaml',
    files: result.files,
    counts: {
      rules: 6,
      tenants: 1,
      contracts: 1,
      identities: 0,
      memory_schemas: 1,
      patterns: 0,
      plugins: 0,
      allowlist: 0,
    },
    policy_hash: result.policy.hash,
    problems: [],
    warnings: [],
  });
});

test('a list of values is counted, and warned about where it has expired or its key is elsewhere', async () => {
  const entry = (digit: string, expires: string) =>
    `{fingerprint: "hmac-sha256:${digit.repeat(64)}", reason: r, owner: o, expires_at: ${expires}}`;
  const dir = await createFolder({
    'service.yaml': `detection:\n  allowlist:\n    - ${entry('0', '2020-01-31')}\n    - ${entry('1', '2099-01-31')}\n`,
  });
  const { valid, counts, warnings } = await validateConfiguration(
    { path: null, cwd: dir, env: {} },
    loadConfig,
  );
  assert.deepEqual([valid, counts?.allowlist, counts?.patterns], [true, 2, 0]);
  const [expired, keyless, ...more] = report(warnings);
  assert.match(expired ?? '', /^service\.yaml:3: `detection\.allowlist\[0\]` has expired/);
  assert.match(keyless ?? '', /^service\.yaml: `detection\.allowlist` needs the key/);
  assert.deepEqual(more, []);
});

test('a file that several names lead to is read once', async () => {
  const dir = await createFolder({
    'service.yaml':
      'paths: {policy_files: [p/a.yaml, "p/*.yaml", "p/**/*.yaml", "./p/../p/a.yaml", "{p,q}/*.yaml"]}',
    'p/..v1/a.yaml': `policy: ${rule('one')}`,
    'p/..data': '->..v1',
    'p/a.yaml': '->..data/a.yaml',
    'q/again.yaml': '->../p/a.yaml',
  });
  const result = await loadIn(dir);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.files, ['p/a.yaml']);
});

test('settings of the configuration reach the policy', async () => {
  const dir = await createFolder({
    'service.yaml':
      'server: {mode: gateway}\npolicy: {default_action: flag, builtin_rules: false}\nsecret_detection: {enabled: false}\nscan: {depth_max: 3}\nredaction: {typed: true}\npaths: {identity_files: [me.yaml]}',
    'me.yaml': 'agent: {agent_id: a}',
  });
  const result = await loadIn(dir);
  assert.ok(result.ok, JSON.stringify(result));
  const { policy } = result;
  assert.equal(policy.default_action, 'flag');
  assert.deepEqual(policy.builtin_rules, []);
  assert.equal(policy.undeclared_tools, 'block');
  assert.equal(policy.unknown_agents, 'block');
  const { guarded_paths, ...detection } = policy.detection;
  assert.deepEqual(detection, { ...DETECTION, secret_detection: false });
  assert.ok(guarded_paths?.files.includes(join(dir, 'me.yaml')));
  assert.equal(policy.limits.depth_max, 3);
  assert.equal(policy.redaction.typed, true);
});

interface Bad {
  readonly name: string;
  readonly files: Files;
  readonly problems: readonly (string | RegExp)[];
}

const bad: readonly Bad[] = [
  {
    name: 'names of files that are not there',
    files: {
      'service.yaml': 'paths:\n  policy_files: [a.yaml, "*.yml"]\n  contract_files: [policies]',
      'policies/x': '',
    },
    problems: [
      'service.yaml:2: `paths.policy_files[0]` names a file that does not exist or may not be read.',
      'service.yaml:3: `paths.contract_files[0]` is a folder; name its files, for instance with `/*.yaml` behind it.',
    ],
  },
  {
    name: 'a link that leads nowhere hides no rule',
    files: { 'policies/a.yaml': '->nowhere.yaml' },
    problems: ['policies/a.yaml: `policies/a.yaml` does not exist.'],
  },
  {
    name: 'every file is looked at, and every mistake told with its line',
    files: {
      'service.yaml': `policies:\n  - ${rule('ok')}\n  - name: x\n    boundary: input\n    acton: block\n`,
      'policies/a.yaml': 'policy: "name',
      'policies/b.yaml': `policies:\n  - ${rule('one')}\n  - name: two\n    boundary: inptu\n    action: block\n---\npolicy:\n  name: three\n  boundary: input\n  action: blok\n`,
      'policies/c.yaml': 'just words',
    },
    problems: [
      /^policies\/a\.yaml:1: `policies\/a\.yaml` is not valid YAML at line 1, column \d+: /,
      /^service\.yaml:5: unknown key `policies\[1\]\.acton`; did you mean `action`\?/,
      /^service\.yaml:3: `policies\[1\]\.action` is missing/,
      /^policies\/b\.yaml:4: `policies\[1\]\.boundary` must be /,
      /^policies\/b\.yaml#2:10: `policy\.action` must be /,
      /^policies\/c\.yaml:1: `policies\/c\.yaml` must be a mapping/,
    ],
  },
  {
    name: 'rules of a tenant',
    files: {
      'service.yaml': `tenants:\n  t.1:\n    policies:\n      - ${rule('a')}\n      - ${rule('a')}\n`,
    },
    problems: [/^service\.yaml:5: `tenants\["t\.1"\]\.policies\[1\]` is a second rule named `a`/],
  },
  {
    name: 'a file over the limit',
    files: { 'policies/a.yaml': `#${' '.repeat(1_048_576)}` },
    problems: ['policies/a.yaml: `policies/a.yaml` is larger than 1048576 bytes.'],
  },
];

test('one problem anywhere, and there is no policy', async () => {
  for (const { name, files, problems } of bad) {
    const result = await loadIn(await createFolder(files));
    assert.ok(!result.ok, name);
    const lines = report(result.problems);
    for (const expected of problems) {
      const found = lines.some((line) =>
        typeof expected === 'string' ? line === expected : expected.test(line),
      );
      assert.ok(found, `${name}: ${expected} in\n${lines.join('\n')}`);
    }
    // The output contains no problem that the table does not list.
    assert.equal(lines.length, problems.length, `${name}:\n${lines.join('\n')}`);
  }
  assert.equal(bad.length, 5);
});

test('excluded documents are reported', async () => {
  const dir = await createFolder({
    'service.yaml': 'paths: {identity_files: ["agents/*.yaml"]}',
    'policies/other.yaml': 'apiVersion: policies.example.com/v1\nkind: ClusterPolicy\n',
  });
  const result = await loadIn(dir);
  assert.ok(result.ok, JSON.stringify(result));
  const lines = report(result.warnings);
  assert.equal(lines[0], 'service.yaml:1: `paths.identity_files[0]` matches no file.');
  assert.match(lines[1] ?? '', /^policies\/other\.yaml:1: `apiVersion` /);
  assert.equal(lines.length, 2);
});

test('a contract with private tags alone is reported, and others are not', async () => {
  const contract = (name: string, tags: string) => `{tool_name: ${name}, emits: {tags: [${tags}]}}`;
  const contracts = [
    contract('mail', 'private.mail'),
    contract('web', 'untrusted.web'),
    contract('crm', 'private.crm, personal'),
  ];
  const dir = await createFolder({
    'contracts/all.yaml': `version: v1alpha1\ncontracts: [${contracts.join(', ')}]\n`,
  });
  const { valid, warnings } = await validateConfiguration({ path: null, cwd: dir, env: {} }, loadConfig);
  assert.ok(valid);
  assert.deepEqual(report(warnings), [
    'contracts/all.yaml:2: contracts[0]: The contract of `mail` emits source tags only, so they mark the session and do not limit the result. To limit it, add the tags that it may carry.',
  ]);
});

test('a reload is refused while the configuration file is gone, also one that came later', async () => {
  const dir = await createFolder({});
  const request = { path: null, cwd: dir, env: {} };
  const started = await loadConfiguredPolicy(request, loadConfig);
  assert.ok(started.ok);
  assert.ok((await reloadConfiguredPolicy(request, loadConfig, started.config, started)).ok);
  await writeFile(join(dir, 'service.yaml'), `policies: [${rule('one')}]\n`);
  const next = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.ok(next.ok);
  await rm(join(dir, 'service.yaml'));
  const refused = await reloadConfiguredPolicy(request, loadConfig, started.config, next);
  assert.deepEqual(report(refused.ok ? [] : refused.problems), [
    'service.yaml: `service.yaml` is gone; put it back, or start the service again without it.',
  ]);
  await writeFile(join(dir, 'service.yml'), `policies: [${rule('two')}]\n`);
  assert.ok((await reloadConfiguredPolicy(request, loadConfig, started.config, next)).ok);
});

test('a reload is refused while all files of a pattern are gone, and one of several may go', async () => {
  const dir = await createFolder({
    'service.yaml': 'x-free: 1',
    'policies/a.yaml': `policy: ${rule('a')}`,
    'policies/b.yaml': `policy: ${rule('b')}`,
  });
  const request = { path: null, cwd: dir, env: {} };
  const started = await loadConfiguredPolicy(request, loadConfig);
  assert.ok(started.ok);
  await rm(join(dir, 'policies/b.yaml'));
  const fewer = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.deepEqual(fewer.ok && fewer.policy.rules.map(({ name }) => name), ['a']);
  await rm(join(dir, 'policies'), { recursive: true });
  const refused = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.deepEqual(report(refused.ok ? [] : refused.problems), [
    'service.yaml: `paths.policy_files[0]` finds no file any more, and there were some in `policies/*.yaml`; put one back, change `paths`, or start the service again.',
  ]);
  await writeFile(join(dir, 'service.yaml'), 'paths: {policy_files: []}');
  assert.ok((await reloadConfiguredPolicy(request, loadConfig, started.config, started)).ok);
});

test('a reload is whole or says why not, and says what waits for a restart', async () => {
  const dir = await createFolder({ 'service.yaml': `server: {port: 1}\npolicies: [${rule('a')}]` });
  const request = { path: null, cwd: dir, env: {} };
  const started = await loadConfiguredPolicy(request, loadConfig);
  assert.ok(started.ok);
  const same = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.ok(same.ok);
  assert.deepEqual([same.policy.hash, same.warnings], [started.policy.hash, []]);
  await writeFile(join(dir, 'service.yaml'), `policies: [${rule('a', ', acton: x')}]\nserver: {prot: 2}`);
  const refused = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.ok(!refused.ok);
  assert.equal(refused.problems.length, 1);
  await writeFile(
    join(dir, 'service.yaml'),
    `server: {port: 2, cors_origins: ["*"]}\npolicies: [${rule('b')}]\nscan: {depth_max: 9, file_roots: [x]}\nauth: {required: true}\nstate_dir: other\nproxy: {target: "http://t"}\ntenants: {t: {}}`,
  );
  const next = await reloadConfiguredPolicy(request, loadConfig, started.config, started);
  assert.ok(next.ok, JSON.stringify(next));
  assert.notEqual(next.policy.hash, started.policy.hash);
  assert.equal(next.policy.limits.depth_max, 9);
  assert.deepEqual(
    next.warnings.filter(({ message }) => message.includes('has changed')).map(({ path }) => path),
    ['auth.required', 'proxy.target', 'scan.file_roots', 'server.cors_origins', 'server.port', 'state_dir'],
  );
});

test('what is not valid has no counts', async () => {
  const dir = await createFolder({ 'service.yaml': 'policies: [1]' });
  const wrong = await validateConfiguration({ path: null, cwd: dir, env: {} }, loadConfig);
  assert.deepEqual(
    [wrong.valid, wrong.counts, wrong.policy_hash, wrong.config_file],
    [false, null, null, 'service.yaml'],
  );
  assert.equal(wrong.problems.length, 1);
  const missing = await validateConfiguration({ path: 'gone.yaml', cwd: dir, env: {} }, loadConfig);
  assert.deepEqual(
    [missing.valid, missing.config_file, report(missing.problems)],
    [false, 'gone.yaml', ['gone.yaml: `gone.yaml` does not exist.']],
  );
  const nothing = await validateConfiguration(
    { path: null, cwd: await createFolder({}), env: {} },
    loadConfig,
  );
  assert.deepEqual([nothing.valid, nothing.config_file, nothing.counts?.rules], [true, null, 0]);
});

test('the same files give the same policy, wherever they lie', async () => {
  const files = { 'service.yaml': `policies: [${rule('a')}]`, 'policies/p.yaml': `policy: ${rule('b')}` };
  const [one, two] = [await loadIn(await createFolder(files)), await loadIn(await createFolder(files))];
  assert.ok(one.ok && two.ok);
  assert.equal(one.policy.hash, two.policy.hash);
  const config = await loadConfig({ path: null, cwd: await createFolder({}), env: {} });
  assert.ok(config.ok);
});
