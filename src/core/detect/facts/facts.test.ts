import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../decision/judge.ts';
import {
  buildTestCrossing,
  buildTestPolicy,
  POLICY_SETTINGS,
  type PolicyParts,
} from '../../testing/policies.ts';
import type { Json, Tag } from '../../types/index.ts';
import { collectToolFacts } from './facts.ts';

function collectFacts(value: Json, named: readonly Tag[] = []): readonly Tag[] {
  return collectToolFacts({ kind: 'json', value }, named, POLICY_SETTINGS.limits)!;
}

const CASES: readonly (readonly [value: Json, ...tags: Tag[]])[] = [
  [{ q: 'a sentence about nothing, and/or all' }],
  [{ url: 'https://example.com/a?b=c' }, 'egress.url'],
  [{ body: 'see http://ada:x@example.com:8080/a' }, 'egress.unencrypted', 'egress.url'],
  [{ url: 'http://10.0.0.7/' }, 'egress.private_address', 'egress.unencrypted', 'egress.url'],
  [{ url: 'https://[fd00::1]:8443/' }, 'egress.private_address', 'egress.url'],
  [{ url: 'http://2130706433/' }, 'egress.loopback', 'egress.unencrypted', 'egress.url'],
  [{ url: 'https://0x7f.1/' }, 'egress.loopback', 'egress.url'],
  [{ url: 'https://[::ffff:127.0.0.1]/' }, 'egress.loopback', 'egress.url'],
  [{ url: 'https://localhost:3000' }, 'egress.loopback', 'egress.url'],
  [{ url: 'https://203.0.114.9/' }, 'egress.public_address', 'egress.url'],
  [{ url: 'https://db.corp.internal/' }, 'egress.private_name', 'egress.url'],
  [
    { url: 'http://169.254.169.254/latest/meta-data/' },
    'egress.metadata_endpoint',
    'egress.private_address',
    'egress.unencrypted',
    'egress.url',
  ],
  [
    { url: 'https://metadata.google.internal./x' },
    'egress.metadata_endpoint',
    'egress.private_name',
    'egress.url',
  ],
  [{ host: 'db.example.com' }, 'egress.host'],
  [{ to: ['10.1.2.3'] }, 'egress.host', 'egress.private_address'],
  [{ command: 'nc 10.1.2.3 80' }, 'egress.host', 'egress.private_address'],
  [{ command: 'curl -o a.zip example.com/a' }, 'egress.host', 'path.relative'],
  [{ command: 'curl -o a.zip https://example.com' }, 'egress.url'],
  [{ command: "bash -c 'ssh ada@example.com'" }, 'egress.host'],
  [{ path: 'src/main.ts' }, 'path.relative'],
  [{ path: '../other/a.ts' }, 'path.outside_workspace', 'path.relative'],
  [{ path: 'src/../../a.ts' }, 'path.outside_workspace', 'path.relative'],
  [{ path: 'src/../a.ts' }, 'path.relative'],
  [{ path: '/work/app/a.ts' }, 'path.absolute'],
  [{ path: '/etc/hosts' }, 'path.absolute', 'path.outside_workspace', 'path.startup_file', 'path.system'],
  [
    { command: 'cat < ~/.aws/credentials' },
    'path.absolute',
    'path.credential_file',
    'path.home',
    'path.outside_workspace',
  ],
  [{ command: 'vault kv get -format=json prod' }, 'path.secret_store'],
  [{ command: 'vault read -field=password db' }, 'path.secret_store'],
  [{ command: 'op item get AWS --fields password' }, 'path.secret_store'],
  [{ command: 'aws secretsmanager get-secret-value --secret-id prod' }, 'path.secret_store'],
  [{ command: 'doppler secrets download --no-file --format env' }, 'path.secret_store'],
  [{ command: 'sops -d a' }, 'path.secret_store'],
  [{ command: 'terraform output -raw db_password' }, 'path.secret_store'],
  [{ command: 'vault status; vault kv list prod; vault read --help; op item list; op run -- npm start' }],
  [{ command: 'doppler secrets --only-names; sops exec-env a b; terraform output -raw endpoint' }],
  [{ command: 'echo a > /tmp/b' }, 'path.absolute', 'path.outside_workspace', 'path.temporary'],
  [{ path: '/var/log/syslog' }, 'path.absolute', 'path.log', 'path.outside_workspace', 'path.system'],
  [{ query: 'SELECT name FROM users WHERE id = 7' }, 'sql.select'],
  [{ sql: '-- all\nWITH a AS (SELECT 1) SELECT * FROM a; DELETE FROM b' }, 'sql.delete', 'sql.select'],
  [{ sql: `${';'.repeat(500)}drop table users` }, 'sql.drop'],
  [
    { sql: 'insert into a values (1); update a set b = 2; grant select on a to b' },
    'sql.grant',
    'sql.insert',
    'sql.update',
  ],
  [{ command: "psql -c 'truncate table a'" }, 'sql.truncate'],
  [{ note: 'Delete the old drafts and update the index' }],
];

test('addresses, paths and statements in arguments are facts', () => {
  for (const [value, ...tags] of CASES) assert.deepEqual(collectFacts(value), tags, JSON.stringify(value));
  assert.equal(CASES.length, 43);
});

test('a host is a fact only if a rule names it or one of its parent domains', () => {
  const value = { url: 'https://API.Example.com/x' };
  assert.deepEqual(collectFacts(value, ['host.com.example']), ['egress.url', 'host.com.example']);
  assert.deepEqual(collectFacts(value, ['host.com.example.api', 'host.org']), [
    'egress.url',
    'host.com.example.api',
  ]);
  assert.deepEqual(collectFacts({ url: 'https://badexample.com' }, ['host.com.example']), ['egress.url']);
});

const METADATA = { url: 'http://169.254.169.254/latest/' };

function judgeCall(
  value: Json,
  dataTags: readonly Tag[],
  action: string,
  settings: PolicyParts['settings'] = {},
) {
  const policy = buildTestPolicy({
    rules: dataTags.length === 0 ? [] : [{ name: 'facts', boundary: 'action', data_tags: dataTags, action }],
    settings,
  });
  const crossing = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    content: { kind: 'json', value },
  });
  return judge(crossing, policy);
}

test('a rule that names a fact decides on it', () => {
  const { decision, rule, data_tags, findings } = judgeCall(METADATA, ['egress.metadata_endpoint'], 'block');
  assert.deepEqual({ decision, rule, findings }, { decision: 'block', rule: 'facts', findings: [] });
  assert.ok(data_tags.includes('egress.metadata_endpoint'));
  assert.equal(judgeCall(METADATA, ['egress'], 'require_approval').action, 'require_approval');
  assert.equal(judgeCall({ path: '../a' }, ['path.outside_workspace'], 'block').decision, 'block');
  assert.equal(judgeCall({ path: 'a/b' }, ['path.outside_workspace'], 'block').decision, 'allow');
});

test('files in the project are inside the workspace', () => {
  const isOutside = (path: string, workingDir?: string) => {
    const content = { kind: 'json', value: { path } } as const;
    const call = { tool: 'Read', ...(workingDir !== undefined && { working_dir: workingDir }) };
    return collectToolFacts(content, [], POLICY_SETTINGS.limits, call)!.includes('path.outside_workspace');
  };
  for (const [path, workingDir, expected] of [
    ['/srv/project/src/a.txt', '/srv/project', false],
    ['/srv/project/src/a.txt', '/srv/project/', false],
    ['/tmp/build/a.txt', '/tmp/build', false],
    ['/srv/project/src/a.txt', undefined, true],
    ['/srv/project-2/a.txt', '/srv/project', true],
    ['/srv/project/../other/a.txt', '/srv/project', true],
    ['/srv/project/%2e%2e/other/a.txt', '/srv/project', true],
    ['/etc/passwd', '/srv/project', true],
    ['../a.txt', '/srv/project', true],
    ['~/notes', '/srv/project', true],
    ['/etc/passwd', '/etc', true],
    ['/etc/ssh/sshd_config', '/etc/ssh', true],
    ['/etc/passwd', '/', true],
    ['/srv/other/a', '/srv', true],
    ['/root/.ssh/id', '/root/.ssh', true],
    ['/root/.ssh/id', '/root', true],
    ['/srv/other/a', '/srv/project/../..', true],
  ] as const)
    assert.equal(isOutside(path, workingDir), expected, `${path} in ${workingDir}`);
});

test('without such a rule a fact decides nothing, whatever the default action is', () => {
  const { decision, data_tags } = judgeCall(METADATA, [], 'block');
  assert.deepEqual({ decision, data_tags }, { decision: 'allow', data_tags: [] });
  assert.equal(judgeCall(METADATA, ['sql'], 'block').decision, 'allow');
});

test('blocks a call whose facts exceed a limit', () => {
  const settings = { command_detection: { enabled: false } };
  const nested = (levels: number) => `${'$('.repeat(levels)}echo a${')'.repeat(levels)}`;
  const long = (units: number) => `${'echo a;\n'.repeat(Math.ceil(units / 8))}cat ../b`;
  for (const command of [`cat ${nested(20)}`, long(140_000)]) {
    const { decision, rule, coverage } = judgeCall({ command }, ['path'], 'flag', settings);
    assert.deepEqual([decision, coverage.status], ['block', 'partial'], rule);
    assert.equal(judgeCall({ command }, [], 'flag', settings).decision, 'allow');
  }
  for (const command of [`cat ${nested(2)}`, long(10_000)])
    assert.equal(judgeCall({ command }, ['path'], 'flag', settings).coverage.status, 'full');
});
