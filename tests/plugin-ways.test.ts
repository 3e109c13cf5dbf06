/** Plug-ins other than detectors, with real processes: a coding agent, and an LLM gateway that calls over HTTP. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { sampleRows } from './support/nightly.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const example = (name: string): string =>
  readFileSync(join(root, `examples/plugin-${name}/index.js`), 'utf8');

const POLICIES = [
  { name: 'no-key-files', boundary: 'action', data_tags: ['path.credential_file'], action: 'block' },
  { name: 'payments-ask', boundary: 'action', condition: { tools: ['pay'] }, action: 'require_approval' },
  {
    name: 'mask-mail',
    boundary: ['input', 'output'],
    data_tags: ['personal'],
    action: 'redact',
    priority: 1,
  },
  {
    name: 'mask-addresses-in-calls',
    boundary: 'action',
    data_tags: ['personal.pii.email'],
    action: 'redact',
    priority: 1,
  },
];

let service: TestService;
before(async () => {
  service = await startTestService({
    workers: 2,
    config: { policies: POLICIES, plugins: { files: ['plugins/*.mjs'] } },
    files: { 'plugins/dialect.mjs': example('dialect'), 'plugins/adapter.mjs': example('adapter') },
  });
});
after(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
type Body = any;

async function ask(path: string, body?: unknown): Promise<{ status: number; json: Body }> {
  const answer = await fetch(`${service.url}${path}`, {
    headers: { 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}

/** Sends enough requests that both workers answer. */
async function everyWorker(body: unknown, path = '/v1/adapters/litellm'): Promise<Body> {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(path, body)));
  for (const { status, json } of answers)
    assert.deepEqual([status, json.action], [200, answers[0]!.json.action]);
  return answers[0]!.json;
}

const call = (name: string, args: unknown) => ({
  id: 'call-1',
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

test('a LiteLLM proxy is answered in its own words by every worker', async () => {
  const { json: listed } = await ask('/v1/plugins');
  assert.deepEqual(listed.adapters, ['litellm']);
  const request = (texts: readonly string[], more = {}) => ({ input_type: 'request', texts, ...more });
  assert.deepEqual(await everyWorker(request(['What is due?'])), { action: 'NONE' });
  assert.deepEqual(await everyWorker(request(['mail jane.doe@corp-mail.io', 'and no more'])), {
    action: 'GUARDRAIL_INTERVENED',
    texts: ['mail [REDACTED]', 'and no more'],
  });
  // The proxy appends a path of its own to the configured URL.
  const below = '/v1/adapters/litellm/beta/litellm_basic_guardrail_api';
  assert.deepEqual(await everyWorker(request(['hello']), below), { action: 'NONE' });
  const response = (...toolCalls: readonly unknown[]) => ({
    input_type: 'response',
    texts: [],
    tool_calls: toolCalls,
  });
  assert.deepEqual(await everyWorker(response(call('note', { text: 'milk' }))), { action: 'NONE' });
  const rows: readonly (readonly [what: string, body: unknown, reason: RegExp])[] = [
    [
      'a file of keys',
      response(call('note', {}), call('read', { path: '/home/a/.ssh/id_rsa' })),
      /rule no-key-files/,
    ],
    ['an approval', response(call('pay', { amount: 120 })), /Approval request apr_\w+ is pending/],
    ['changed arguments', response(call('note', { to: 'jane.doe@corp-mail.io' })), /cannot be changed here/],
    [
      'two that change',
      { ...response(call('note', { to: 'jane.doe@corp-mail.io' })), texts: ['to jane.doe@corp-mail.io'] },
      /cannot be changed here/,
    ],
    [
      'a call without a name',
      response({ function: { arguments: '{}' } }),
      /cannot be evaluated, so it is refused: it lacks/,
    ],
    ['nothing to judge', { input_type: 'response', texts: null }, /nothing that could be judged/],
    ['a session that is none', request(['hello'], { litellm_trace_id: ['x'] }), /no name as `session_id`/],
  ];
  for (const [what, body, reason] of rows) {
    const { action, blocked_reason } = await everyWorker(body);
    assert.equal(action, 'BLOCKED', what);
    assert.match(blocked_reason, reason, what);
    assert.ok(!blocked_reason.includes('jane.doe'), what);
  }
  assert.equal(rows.length, 7);
  assert.equal((await ask('/v1/adapters/litellm', { input_type: 'other', texts: [] })).status, 400);
  assert.equal((await ask('/v1/adapters/litellm', { texts: [] })).status, 400);
  assert.equal((await ask('/v1/adapters/other', request([]))).status, 404);
});

test('checks of an adapter are in the audit log, with the session that the proxy names', async () => {
  await ask('/v1/adapters/litellm', { input_type: 'request', texts: ['hi'], litellm_trace_id: 'trace-77' });
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}/v1/audit/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}` },
    body: JSON.stringify({ session_id: 'trace-77' }),
  });
  const { events } = (await answer.json()) as Body;
  assert.deepEqual(
    events.map(({ agent_id, boundary, metadata }: Body) => [
      agent_id,
      boundary,
      metadata.adapter,
      metadata.adapter_event,
    ]),
    [['litellm', 'input', 'litellm', 'request']],
  );
});

function hook(payload: unknown, ...words: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(join(root, 'service'), ['hook', ...words], {
    cwd: service.dir,
    encoding: 'utf8',
    env: { ...ownNodeEnvironment(), SERVICE_HOOK_DAEMON: 'off' },
    input: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return { code: status, stdout, stderr };
}

const cascade = (agentActionName: string, toolInfo: unknown) => ({
  agent_action_name: agentActionName,
  trajectory_id: 't-1',
  tool_info: toolInfo,
});

test('a coding agent of a plug-in is decided by the service that runs', () => {
  const windsurf = ['--dialect', 'windsurf'];
  const rows: readonly (readonly [payload: unknown, code: number, stderr: RegExp])[] = [
    [cascade('pre_read_code', { file_path: 'src/main.ts' }), 0, /^$/],
    [cascade('pre_read_code', { file_path: '/home/ada/.aws/credentials' }), 2, /rule no-key-files/],
    [cascade('pre_run_command', { command_line: 'npm test' }), 0, /^$/],
    [cascade('pre_run_command', { command_line: 'cat ~/.ssh/id_rsa' }), 2, /rule no-key-files/],
    [
      cascade('pre_user_prompt', { user_prompt: 'ask jane.doe@corp-mail.io' }),
      2,
      /cannot accept a redacted prompt, so it was blocked/,
    ],
    [cascade('post_run_command', { command_line: 'cat ~/.ssh/id_rsa' }), 0, /^$/],
    [cascade('pre_run_command', {}), 2, /cannot be evaluated/],
    [cascade('pre_new_thing', { command_line: 'ls' }), 2, /its event is unknown/],
    ['no json', 2, /is not JSON/],
  ];
  for (const [payload, code, stderr] of rows) {
    const told = hook(payload, ...windsurf);
    assert.deepEqual([told.code, told.stdout], [code, ''], JSON.stringify(payload));
    assert.match(told.stderr, stderr, JSON.stringify(payload));
  }
  assert.equal(rows.length, 9);
  const unknown = hook(cascade('pre_read_code', { file_path: 'a' }), '--dialect', 'nobody');
  assert.deepEqual([unknown.code, /one of a plug-in/.test(unknown.stderr)], [2, true]);
});

test('a coding agent whose plug-in is excluded is refused without a daemon', () => {
  writeFileSync(
    join(service.dir, 'other.yaml'),
    JSON.stringify({ plugins: { files: ['broken/*.mjs'] }, state_dir: '.other' }),
  );
  cpSync(join(service.dir, 'plugins'), join(service.dir, 'broken'), { recursive: true });
  writeFileSync(
    join(service.dir, 'broken/dialect.mjs'),
    `${example('dialect')}\nthrow new Error('no luck');\n`,
  );
  const payload = cascade('pre_read_code', { file_path: 'src/main.ts' });
  const alone = hook(payload, '--dialect', 'windsurf', '--config', 'other.yaml', '--timeout-ms', '60000');
  assert.equal(alone.code, 2, alone.stderr);
  writeFileSync(join(service.dir, 'broken/dialect.mjs'), example('dialect'));
  const mended = hook(payload, '--dialect', 'windsurf', '--config', 'other.yaml', '--timeout-ms', '60000');
  assert.equal(mended.code, 0, mended.stderr);
});

const SKILL = {
  'skill.yaml':
    'version: v1alpha1\nskill: {name: tickets, version: 1.0.0, description: Tickets., plugins: [plugins/tickets.mjs]}\n',
  'plugins/tickets.mjs': `export default ${JSON.stringify({
    name: 'tickets',
    version: '1.0.0',
    detectors: [
      {
        id: 'acme.ticket',
        pattern: 'TKT-[0-9]{4,10}',
        tags: ['personal.ticket'],
        severity: 'medium',
        description: 'Tickets.',
        examples: { hits: ['TKT-1234'] },
      },
    ],
  })};\n`,
};

const masked = async (): Promise<unknown> =>
  (await ask('/v1/scan/input', { text: 'of TKT-1234' })).json.modified_text ?? null;

/** Polls, because a running service applies changed files within seconds. */
async function untilMasked(expected: string | null): Promise<void> {
  await until(async () => (await masked()) === expected, `the text becomes ${expected}`, 200);
}

test('a skill brings a plug-in to a service that runs, which runs only what the lock file has', async () => {
  for (const [path, text] of Object.entries(SKILL)) {
    mkdirSync(dirname(join(service.dir, 'tickets', path)), { recursive: true });
    writeFileSync(join(service.dir, 'tickets', path), text);
  }
  const cli = (...words: string[]) =>
    runProgram([join(root, 'service'), ...words], { cwd: service.dir, env: ownNodeEnvironment() });
  assert.equal((await cli('skills', 'add', './tickets', '--yes')).code, 1);
  assert.equal(await masked(), null);
  const added = await cli('skills', 'add', './tickets', '--yes', '--allow-plugins');
  assert.equal(added.code, 0, added.stderr);
  await untilMasked('of [REDACTED]');
  const spiked = `${SKILL['plugins/tickets.mjs']}// spiked\n`;
  writeFileSync(join(service.dir, 'plugins/tickets.mjs'), spiked);
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const refused = await fetch(`${service.url}/v1/policies/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator}` },
  });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /differs from the file that the skill `tickets` installed/);
  assert.equal(await masked(), 'of [REDACTED]', 'what was in use stays');
  writeFileSync(join(service.dir, 'plugins/tickets.mjs'), SKILL['plugins/tickets.mjs']);
  const removed = await cli('skills', 'remove', 'tickets', '--yes');
  assert.equal(removed.code, 0, removed.stderr);
  await untilMasked(null);
});

for (const name of sampleRows(['adapter', 'dialect'], 2))
  test(`the example of ${name === 'dialect' ? 'a dialect' : 'an adapter'} passes its own test`, async () => {
    const copy = join(service.dir, `example-${name}`);
    cpSync(join(root, `examples/plugin-${name}`), copy, { recursive: true });
    const env = { ...ownNodeEnvironment(), SERVICE: join(root, 'service') };
    const { code, stdout } = await runProgram([process.execPath, '--test'], { cwd: copy, env });
    assert.equal(code, 0, stdout);
    assert.match(stdout, name === 'dialect' ? /pass 3/ : /pass 1/);
    rmSync(copy, { recursive: true });
  });
