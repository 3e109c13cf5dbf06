/** Global rules that are edited over the API: drafts, versions, and their effect in all workers. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { type ApiClient, listOutputDecisions, openApiClient } from './support/api-client.ts';
import { startTestService, type TestService } from './support/service.ts';

const KEY = ['svc', 'key', 'g'.repeat(43)].join('_');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const DOCUMENT = '/v1/dashboard/policies/document';

const CLI_CALLER = `cli:${userInfo().username}`;

let service: TestService;
let call: ApiClient;
before(async () => {
  service = await startTestService({
    workers: 2,
    config: {
      auth: { api_keys: [{ id: 'grabbing', sha256: sha256(KEY), permissions: ['check', 'policies:edit'] }] },
      dashboard: {
        users: [
          { user_id: 'ann', role: 'admin', tenants: ['acme'] },
          { user_id: 'root', role: 'admin', tenants: ['*'] },
        ],
      },
      policies: [{ name: 'no-ssn', boundary: 'output', data_tags: ['personal.pii.ssn'], action: 'block' }],
    },
    files: {
      'policies/tests/mail.yaml':
        'tests:\n  - name: mail is masked\n    boundary: output\n    text: Write to jane.doe@corp-mail.io today.\n    expect: {decision: modify}\n',
    },
  });
  call = openApiClient(service);
});
after(() => service.stop());

const read = (path: string, user = 'root') => call(path, { as: { user } });
const decide = () => listOutputDecisions(call, { text: 'Write to jane.doe@corp-mail.io today.' });
const save = (text: string, more: object = {}) => call(DOCUMENT, { method: 'PUT', body: { text, ...more } });

const WEAKER = { confirm_weaker: true, note: 'a test' };

const ruleText = (action: string, name = 'no-mail') =>
  `# kept as typed\npolicies:\n  - name: ${name}\n    boundary: output\n    data_tags: [personal.pii.email]\n    action: ${action}\n`;

test('a draft is linted, tested and replayed before it is saved, and nothing changes', async () => {
  assert.deepEqual(await decide(), ['modify']);
  const linted = await call('/v1/dashboard/policies/lint', { body: { text: ruleText('block') } });
  assert.equal(linted.status, 200, JSON.stringify(linted.body));
  assert.equal(linted.body.valid, true);
  const wrong = await call('/v1/dashboard/policies/lint', { body: { text: ruleText('blok') } });
  assert.deepEqual([wrong.body.valid, wrong.body.problems[0].line], [false, 6]);
  const broken = await call('/v1/dashboard/policies/lint', { body: { text: 'policies: [' } });
  assert.equal(broken.body.valid, false);

  const tested = await call('/v1/dashboard/policies/test', { body: { text: ruleText('block') } });
  assert.deepEqual([tested.body.passed, tested.body.failed], [0, 1], JSON.stringify(tested.body));
  const now = await call('/v1/dashboard/policies/test', { body: {} });
  assert.deepEqual([now.body.passed, now.body.failed], [1, 0]);
  const cases = 'tests:\n  - {name: own, boundary: output, text: hello, expect: {decision: block}}\n';
  const own = await call('/v1/dashboard/policies/test', { body: { cases } });
  assert.deepEqual([own.body.passed, own.body.failed], [0, 1], JSON.stringify(own.body));

  const replay = await call('/v1/dashboard/policies/replay', {
    body: { text: ruleText('block'), since: '1h' },
  });
  assert.equal(replay.body.total.stricter, 8, JSON.stringify(replay.body));
  assert.equal(replay.body.stricter[0].to_rule, 'no-mail');
  const other = await call('/v1/dashboard/policies/replay', {
    body: { text: ruleText('block'), event_tenant_id: 'beta' },
  });
  assert.equal(other.body.total.stricter, 0);
  assert.deepEqual(await decide(), ['modify']);
});

test('a wrong decision becomes a case with masked content', async () => {
  const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
  const { body } = await call('/v1/intercept/tool', {
    body: { tool: 'Bash', input: { command: `git push --force # ${SECRET}` }, agent_id: 'coder' },
  });
  const CASE = '/v1/dashboard/policies/case';
  const drafted = await call(CASE, { body: { event_id: body.event_id, note: `mine: ${SECRET}` } });
  assert.equal(drafted.status, 200, JSON.stringify(drafted.body));
  const { text, file, expect } = drafted.body;
  assert.deepEqual([file, expect], [`policies/tests/wrong-${body.event_id}.yaml`, 'allow']);
  assert.match(text, /git push --force/);
  assert.ok(!text.includes(SECRET), text);
  const tested = await call('/v1/dashboard/policies/test', { body: { cases: text } });
  assert.deepEqual([tested.body.problems, tested.body.failed], [[], drafted.body.passes ? 0 : 1]);
  const scanned = await call('/v1/scan/input', { body: { text: 'hello' } });
  const withoutCall = await call(CASE, { body: { event_id: scanned.body.event_id } });
  assert.deepEqual([withoutCall.status, /holds no call/.test(withoutCall.body.error)], [409, true]);
  const foreign = await call(CASE, { body: { event_id: body.event_id }, as: { user: 'ann' } });
  assert.equal(foreign.status, 403);
  const byKey = await call(CASE, { body: { event_id: body.event_id }, as: { token: KEY } });
  assert.equal(byKey.status, 403);
});

test('a saved document is active in all workers, is listed, compared and taken back', async () => {
  const saved = await save(ruleText('block'), { base_version: 0, name: 'mail', note: 'leaks' });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  assert.deepEqual([saved.body.version, saved.body.text], [1, ruleText('block')]);
  assert.deepEqual(await decide(), ['block']);

  const { body: listed } = await read('/v1/dashboard/rules');
  const rows = listed.rules.map(({ name, origin, hits }: { name: string; origin: string; hits: number }) => [
    name,
    origin,
    hits,
  ]);
  assert.deepEqual(rows.slice(0, 2), [
    ['no-ssn', 'configuration', 0],
    ['no-mail', 'document', 8],
  ]);
  assert.equal(rows[2][1], 'builtin');

  const weaker = await save(ruleText('flag'), { base_version: 1 });
  assert.deepEqual([weaker.status, weaker.body.code], [409, 'weaker_policy']);
  assert.match(JSON.stringify(weaker.body.details), /output, personal.pii.email: block -> flag/);
  for (const more of [{ confirm_weaker: true }, { confirm_weaker: true, note: ' ' }, { note: 'x' }])
    assert.equal((await save(ruleText('flag'), more)).status, 409, JSON.stringify(more));
  assert.deepEqual(await decide(), ['block']);
  const confirmed = await save(ruleText('flag'), { base_version: 1, ...WEAKER });
  assert.equal(confirmed.body.version, 2, JSON.stringify(confirmed.body));
  assert.deepEqual(await decide(), ['allow']);
  const diff = await read('/v1/dashboard/policies/diff');
  assert.match(diff.body.diff, /- {4}action: block\n\+ {4}action: flag/);
  const back = await runInProcess(['policy', 'rollback', '1', '--json'], { cwd: service.dir });
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout, /"version":3,[^}]*"restored_from":1\b/);
  assert.deepEqual(await decide(), ['block']);
  const { body: history } = await read('/v1/dashboard/policies/versions');
  assert.deepEqual(
    history.versions.map(({ version, name, created_by }: Record<string, unknown>) => [
      version,
      name,
      created_by,
    ]),
    [
      [3, 'mail', CLI_CALLER],
      [2, '', 'operator'],
      [1, 'mail', 'operator'],
    ],
  );
  const { body: saves } = await call('/v1/audit/query', { body: { phase: 'policy_document_save' } });
  assert.deepEqual(
    saves.events.map(({ metadata }: { metadata: { weaker_places?: number } }) => metadata.weaker_places),
    [2, undefined],
  );
  const { body: events } = await call('/v1/audit/query', { body: { phase: 'policy_document_rollback' } });
  assert.deepEqual([events.events[0].caller_id, events.events[0].metadata.restored_from], [CLI_CALLER, 1]);
});

test('what does not compile, repeats a rule or was changed meanwhile is refused', async () => {
  for (const [text, more] of [
    [ruleText('blok'), {}],
    ['policies: [', {}],
    [ruleText('block', 'no-ssn'), {}],
    [ruleText('block', 'builtin.personal.output'), {}],
    ['policies: [{name: off, boundary: action, data_tags: [dangerous], action: allow, priority: 0}]', {}],
    [ruleText('allow'), { base_version: 1 }],
  ] as const)
    assert.equal((await save(text, more)).status, 409, text);
  assert.equal((await call(`${DOCUMENT}/rollback`, { body: { version: 9 } })).status, 404);
  assert.equal((await read(DOCUMENT)).body.version, 3);
  assert.deepEqual(await decide(), ['block']);
});

test('no agent edits or examines drafts, and a user of one tenant does not see the document', async () => {
  const changes = [
    ['PUT', DOCUMENT, { text: '' }],
    ['POST', `${DOCUMENT}/rollback`, { version: 1 }],
    ['POST', '/v1/dashboard/policies/lint', {}],
    ['POST', '/v1/dashboard/policies/test', {}],
    ['POST', '/v1/dashboard/policies/replay', {}],
  ] as const;
  for (const [method, path, body] of changes)
    for (const as of [{ token: KEY }, { user: 'root' }, null])
      assert.equal((await call(path, { method, body, as })).status, 403, path);
  for (const path of [DOCUMENT, '/v1/dashboard/policies/versions', '/v1/dashboard/policies/diff']) {
    assert.equal((await read(path, 'ann')).status, 403, path);
    assert.equal((await read(path)).status, 200, path);
  }
});

test('a template is installed as a version, once', async () => {
  const install = (name: string) => call('/v1/dashboard/templates/install', { body: { name } });
  const installed = await install('finance');
  assert.equal(installed.status, 200, JSON.stringify(installed.body));
  assert.match(
    installed.body.text,
    /^# kept as typed[\s\S]*---\n# Template finance begins, sha256 [0-9a-f]{64}\n/,
  );
  assert.equal((await install('finance')).status, 409, 'its rules are there already');
  assert.equal((await install('none')).status, 404);
});

test('a template is removed as a version, unless it was edited', async () => {
  const remove = (name: string) => call('/v1/dashboard/templates/remove', { body: { name, ...WEAKER } });
  const { body: before } = await read(DOCUMENT);
  assert.equal((await remove('healthcare')).status, 404, 'it is not installed');
  const edited = before.text.replace(/(begins, sha256 )[0-9a-f]{64}/, `$1${'0'.repeat(64)}`);
  assert.equal((await call(DOCUMENT, { method: 'PUT', body: { text: edited } })).status, 200);
  assert.equal((await remove('finance')).status, 409, 'it was edited');
  assert.equal((await call(DOCUMENT, { method: 'PUT', body: { text: before.text } })).status, 200);
  const removed = await remove('finance');
  assert.equal(removed.status, 200, JSON.stringify(removed.body));
  assert.ok(!removed.body.text.includes('finance') && removed.body.text.startsWith('# kept as typed'));
});

test('a skill is listed, shown, installed and removed, and its rules are active meanwhile', async () => {
  const list = async () => {
    const { body } = await read('/v1/dashboard/skills');
    return body.skills.find(({ name }: { name: string }) => name === 'pci-dss');
  };
  const change = (verb: 'install' | 'remove', name = 'pci-dss') =>
    call(`/v1/dashboard/skills/${verb}`, { body: { name, ...WEAKER } });
  const rules = async () => {
    const { body } = await read('/v1/dashboard/rules?limit=500');
    return body.rules.filter(({ name }: { name: string }) => name.startsWith('pci')).length as number;
  };
  const first = await list();
  assert.deepEqual([first.state, first.installed_in, first.installed_version], ['available', null, null]);
  const { body: shown } = await read('/v1/dashboard/skills/pci-dss');
  assert.deepEqual(
    shown.files.map(({ kind }: { kind: string }) => kind),
    ['policy', 'cases'],
  );
  const { body: before } = await read(DOCUMENT);
  const installed = await change('install');
  assert.equal(installed.status, 200, JSON.stringify(installed.body));
  assert.deepEqual(installed.body.warnings, [], 'its cases pass');
  assert.ok((await rules()) > 0);
  const second = await list();
  assert.deepEqual(
    [second.state, second.installed_in, second.installed_version],
    ['intact', 'document', first.version],
  );
  assert.equal((await change('install')).status, 409);
  assert.equal((await change('install', 'none')).status, 404);
  // The comments of a part with another text: the digest fits, the package has other rules.
  const own = 'policies:\n  - {name: pci-own, boundary: output, data_tags: [personal], action: block}';
  const marks = installed.body.text.match(/# Skill pci-dss \S+ begins/)?.[0];
  const forged = `${marks}, sha256 ${sha256(own)}\n${own}\n# Skill pci-dss ends\n`;
  assert.equal((await save(forged, WEAKER)).status, 200);
  assert.equal((await list()).state, 'changed');
  assert.equal((await save(installed.body.text, WEAKER)).status, 200);
  assert.equal((await change('remove')).status, 200);
  assert.equal(await rules(), 0);
  assert.equal((await read(DOCUMENT)).body.text, before.text);
  assert.equal((await change('remove')).status, 404);
  for (const as of [{ token: KEY }, { user: 'root' }, null])
    assert.equal((await call('/v1/dashboard/skills/install', { body: { name: 'pci-dss' }, as })).status, 403);
  assert.equal((await read('/v1/dashboard/skills', 'ann')).status, 403, 'a user of one tenant');
});
