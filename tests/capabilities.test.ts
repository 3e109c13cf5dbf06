/**
 * Capability tokens and the secrets that they release, on the real service: the permissions of callers, and the
 * records.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { type Gate, openGate } from './support/secrets/gate.ts';
import { startVaultWire, type VaultWire } from './support/secrets/vault-wire.ts';
import { startTestService, type TestService } from './support/service.ts';

const VAULT_TOKEN = ['hvs', 'captoken51b2'].join('.');
const VALUE = ['mail', 'value', '51b2e8'].join('-');
const ROTATED = ['mail', 'rotated', '0cc4f7'].join('-');
const KEYS = {
  plain: ['svc', 'key', 'p'.repeat(43)].join('_'),
  resolver: ['svc', 'key', 'r'.repeat(43)].join('_'),
  narrow: ['svc', 'key', 'n'.repeat(43)].join('_'),
  grabbing: ['svc', 'key', 'g'.repeat(43)].join('_'),
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let wire: VaultWire;
let gate: Gate;
let service: TestService;

before(async () => {
  wire = await startVaultWire(VAULT_TOKEN);
  gate = await openGate(wire.port);
  wire.put('service', { mail_password: VALUE, other: 'other-value-51b2' });
  const everything = ['check', 'secrets:resolve', 'capabilities:issue', 'capabilities:read', 'secrets:check'];
  service = await startTestService({
    workers: 2,
    config: {
      auth: {
        api_keys: [
          { id: 'plain', sha256: sha256(KEYS.plain) },
          { id: 'resolver', sha256: sha256(KEYS.resolver), permissions: ['check', 'secrets:resolve'] },
          {
            id: 'narrow',
            sha256: sha256(KEYS.narrow),
            agents: ['other-bot'],
            permissions: ['secrets:resolve'],
          },
          { id: 'grabbing', sha256: sha256(KEYS.grabbing), permissions: everything },
        ],
      },
      secrets: {
        backend: 'vault',
        timeout_ms: 1_500,
        cache_ttl_seconds: 0,
        vault: { address: `http://127.0.0.1:${gate.port}`, token_env: 'VAULT_TOKEN', path: 'secret/service' },
      },
      policies: [
        {
          name: 'no-secrets-for-interns',
          boundary: 'action',
          condition: { tools: ['secrets.resolve'], agents: ['intern-*'] },
          action: 'block',
          reason: 'Interns get no secrets.',
        },
        {
          name: 'deployments-ask',
          boundary: 'action',
          condition: { tools: ['secrets.resolve'], agents: ['deploy-*'] },
          action: 'require_approval',
        },
      ],
    },
    env: { VAULT_TOKEN },
    keep: true,
  });
});
after(async () => {
  await service?.stop();
  await gate.close();
  await wire.close();
});

const tokens: string[] = [];

interface Reply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes.
  readonly json: any;
}

async function ask(path: string, credential: string | null, body?: object, method = 'POST'): Promise<Reply> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) };
}

const operator = () => readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();

async function issue(request: object = {}): Promise<{ token: string; token_id: string }> {
  const scope = { tool_name: 'send_*', secret_keys: ['mail_*', 'gone'] };
  const made = await ask('/v1/capabilities', operator(), { agent_id: 'mail-bot', scope, ...request });
  assert.equal(made.status, 200, made.text);
  tokens.push(made.json.token);
  return made.json;
}

const resolving = (token: string, more: object = {}) => ({
  secret_key: 'mail_password',
  capability_token_id: token,
  tool: 'send_email',
  agent_id: 'mail-bot',
  session_id: 's1',
  ...more,
});

test('only a person issues, lists, shows and revokes; no agent’s credential does, whatever it says of itself', async () => {
  const { token_id } = await issue();
  const issuing = { agent_id: 'mail-bot', scope: { tool_name: 'send_email' } };
  const routes: readonly (readonly [string, string, object | undefined, readonly string[]])[] = [
    ['/v1/capabilities', 'POST', issuing, []],
    ['/v1/capabilities', 'GET', undefined, ['grabbing']],
    [`/v1/capabilities/${token_id}`, 'GET', undefined, ['grabbing']],
    [`/v1/capabilities/${token_id}/revoke`, 'POST', undefined, []],
    ['/v1/secrets/check', 'POST', {}, []],
  ];
  let ran = 0;
  for (const [path, method, body, may] of routes) {
    for (const [who, credential] of Object.entries({ loopback: null, ...KEYS })) {
      const { status, json } = await ask(path, credential, body, method);
      const expected = may.includes(who) ? 200 : 403;
      assert.equal(status, expected, `${who} ${method} ${path} ${JSON.stringify(json)}`);
      ran += 1;
    }
    if (path.endsWith('/revoke')) continue;
    assert.equal((await ask(path, operator(), body, method)).status, 200, path);
  }
  assert.equal(ran, 25);
});

test('who gets a secret, and who does not', async () => {
  const { token } = await issue();
  const bound = (await issue({ session_id: 's1' })).token;
  const interns = (await issue({ agent_id: 'intern-1' })).token;
  const cases: readonly (readonly [
    name: string,
    credential: string | null,
    body: object,
    outcome: string,
  ])[] = [
    ['all fits', KEYS.resolver, resolving(token), 'allow'],
    ['a session of its own', KEYS.resolver, resolving(bound), 'allow'],
    ['nobody is trusted for being here', null, resolving(token), '403 forbidden'],
    ['a key without the permission', KEYS.plain, resolving(token), '403 forbidden'],
    ['a key for another agent', KEYS.narrow, resolving(token), '403 forbidden'],
    ['a wrong key', `${KEYS.resolver.slice(0, -1)}x`, resolving(token), '401 unauthenticated'],
    ['a token that is none', KEYS.resolver, resolving(`${token}x`), 'capability_token.unknown'],
    [
      'the name of a token',
      KEYS.resolver,
      resolving(`cap_${token.slice(8, 32)}`),
      'capability_token.unknown',
    ],
    ['no token', KEYS.resolver, resolving(token, { capability_token_id: undefined }), '400 invalid_request'],
    ['an empty token', KEYS.resolver, resolving(''), '400 invalid_request'],
    ['another agent', KEYS.resolver, resolving(token, { agent_id: 'other-bot' }), 'capability_token.agent'],
    ['no agent', KEYS.resolver, resolving(token, { agent_id: undefined }), '400 agent_context_required'],
    ['another tool', KEYS.resolver, resolving(token, { tool: 'delete_all' }), 'capability_token.tool'],
    [
      'another action',
      KEYS.resolver,
      resolving(token, { capability_action: 'admin' }),
      'capability_token.action',
    ],
    ['another session', KEYS.resolver, resolving(bound, { session_id: 's2' }), 'capability_token.session'],
    ['another tenant', KEYS.resolver, resolving(token, { tenant_id: 'acme' }), 'capability_token.tenant'],
    [
      'another secret',
      KEYS.resolver,
      resolving(token, { secret_key: 'other' }),
      'capability_token.secret_key',
    ],
    ['a path out', KEYS.resolver, resolving(token, { secret_key: 'mail_/../x' }), '400 invalid_request'],
    ['a secret that is not there', KEYS.resolver, resolving(token, { secret_key: 'gone' }), '404 not_found'],
    [
      'a rule against it',
      KEYS.resolver,
      resolving(interns, { agent_id: 'intern-1' }),
      'no-secrets-for-interns',
    ],
  ];
  for (const [name, credential, body, outcome] of cases) {
    const { status, json, text } = await ask('/v1/secrets/resolve', credential, body);
    if (outcome === 'allow')
      assert.deepEqual([status, json.decision, json.value], [200, 'allow', VALUE], name);
    else {
      assert.equal(status === 200 ? json.rule : `${status} ${json.code}`, outcome, `${name}: ${text}`);
      assert.ok(!text.includes(VALUE) && !('value' in json), name);
      if (status === 200) assert.equal(json.decision, 'block', name);
    }
  }
  assert.equal(cases.length, 20);
});

test('a rule can have a person asked before an agent gets a secret, once', async () => {
  const { token } = await issue({ agent_id: 'deploy-1' });
  const body = resolving(token, { agent_id: 'deploy-1' });
  const asked = await ask('/v1/secrets/resolve', KEYS.resolver, body);
  assert.deepEqual(
    [asked.json.decision, asked.json.rule, 'value' in asked.json],
    ['block', 'deployments-ask', false],
  );
  const { request_id } = asked.json.approval;
  const approved = { ...body, approval_request_id: request_id };
  assert.equal((await ask('/v1/secrets/resolve', KEYS.resolver, approved)).json.decision, 'block');
  assert.equal((await ask(`/v1/approvals/${request_id}/approve`, operator(), {})).status, 200);
  assert.equal((await ask('/v1/secrets/resolve', KEYS.resolver, approved)).json.value, VALUE);
  const again = await ask('/v1/secrets/resolve', KEYS.resolver, approved);
  assert.deepEqual([again.json.decision, 'value' in again.json], ['block', false]);
});

test('a call with a token must match its scope, and one without a token is unrestricted', async () => {
  const { token, token_id } = await issue();
  const call = (more: object) => ({
    tool: 'send_email',
    input: { to: 'team' },
    agent_id: 'mail-bot',
    ...more,
  });
  const cases: readonly (readonly [object, string])[] = [
    [{}, 'default.allow'],
    [{ capability_token_id: null }, 'default.allow'],
    [{ capability_token_id: token }, 'default.allow'],
    [{ capability_token_id: token, tool: 'drop_table' }, 'capability_token.tool'],
    [{ capability_token_id: token, agent_id: 'other-bot' }, 'capability_token.agent'],
    [{ capability_token_id: token, capability_action: 'admin' }, 'capability_token.action'],
    [{ capability_token_id: token_id }, 'capability_token.unknown'],
    [{ capability_token_id: ' ' }, 'capability_token.unknown'],
    [{ capability_token_id: 'x'.repeat(200) }, 'capability_token.unknown'],
    [{ capability_token_id: token, phase: 'response', output: 'done', tool: 'drop_table' }, 'default.allow'],
  ];
  for (const [more, rule] of cases) {
    const { status, json, text } = await ask('/v1/intercept/tool', null, call(more));
    assert.deepEqual([status, json.rule], [200, rule], text);
    const refused = rule.startsWith('capability_token.');
    assert.equal(json.decision, refused ? 'block' : 'allow');
    assert.deepEqual(
      json.violations.map(({ type }: { type: string }) => type),
      refused ? ['identity_violation'] : [],
    );
  }
  assert.equal(cases.length, 10);
});

test('a tool can ask whether the token that it was given is good', async () => {
  const { token, token_id } = await issue();
  const asking = { capability_token_id: token, tool: 'send_email', agent_id: 'mail-bot' };
  const good = await ask('/v1/capabilities/validate', null, asking);
  assert.deepEqual([good.json.valid, good.json.cause, good.json.token_id], [true, null, token_id]);
  const bad = await ask('/v1/capabilities/validate', null, { ...asking, tool: 'drop_table' });
  assert.deepEqual([bad.json.valid, bad.json.cause], [false, 'tool']);
});

test('a revoked token is refused by every worker from then on, and the command line revokes too', async () => {
  const run = async (...words: string[]) => {
    const command = [join(root, 'service'), 'capabilities', ...words];
    const ran = await runProgram(command, {
      cwd: service.dir,
      env: { ...ownNodeEnvironment(), VAULT_TOKEN },
    });
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  const made = JSON.parse(
    await run(
      'issue',
      '--agent',
      'mail-bot',
      '--tool',
      'send_*',
      '--secret-key',
      'mail_*',
      '--ttl',
      '5m',
      '--json',
    ),
  );
  tokens.push(made.token);
  assert.equal(
    (await ask('/v1/secrets/resolve', KEYS.resolver, resolving(made.token))).json.decision,
    'allow',
  );
  assert.match(await run('list'), new RegExp(`${made.token_id} +active +mail-bot`));
  assert.match(await run('revoke', made.token_id), /status +revoked/);
  assert.match(await run('show', made.token_id), /uses +1/);
  // Connections are distributed over the workers.
  for (let count = 0; count < 10; count += 1) {
    const { json } = await ask('/v1/secrets/resolve', KEYS.resolver, resolving(made.token));
    assert.equal(json.rule, 'capability_token.revoked');
  }
});

test('a backend that is silent or gone gives nothing, says so in time, and works again when it is back', async () => {
  const { token } = await issue();
  wire.put('service', { mail_password: ROTATED });
  assert.equal((await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token))).json.value, ROTATED);
  for (const [state, says] of [
    ['silent', /did not answer in time/],
    ['shut', /cannot be reached/],
  ] as const) {
    gate.set(state);
    const { status, json, text } = await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token));
    assert.deepEqual([status, json.code], [503, 'unavailable'], text);
    assert.match(json.error, says);
    const check = await ask('/v1/secrets/check', operator(), { secret_keys: ['mail_password'] });
    assert.deepEqual([check.json.reachable, check.json.secrets[0].result], [false, 'error'], check.text);
  }
  gate.set('open');
  assert.equal((await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token))).json.value, ROTATED);
  const check = await ask('/v1/secrets/check', operator(), { secret_keys: ['mail_password', 'gone'] });
  assert.deepEqual(check.json, {
    backend: 'vault',
    reachable: true,
    secrets: [
      { secret_key: 'mail_password', result: 'allow' },
      { secret_key: 'gone', result: 'missing' },
    ],
  });
});

test('every issue, use, refusal and revocation is in the audit log', async () => {
  const { token, token_id } = await issue();
  await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token));
  await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token, { tool: 'drop_table' }));
  await ask('/v1/intercept/tool', KEYS.plain, {
    tool: 'send_email',
    agent_id: 'mail-bot',
    capability_token_id: token,
  });
  await ask('/v1/capabilities/validate', KEYS.plain, {
    tool: 'x',
    agent_id: 'mail-bot',
    capability_token_id: token,
  });
  await ask(`/v1/capabilities/${token_id}/revoke`, operator());
  const found = await ask('/v1/audit/query', operator(), {
    metadata_key: 'capability_token_id',
    metadata_value: token_id,
    newest_first: false,
  });
  const shown = found.json.events.map(
    // biome-ignore lint/suspicious/noExplicitAny: events as they come.
    ({ caller_id, decision, tool_name, metadata }: any) =>
      `${metadata.phase} ${decision} ${tool_name} by ${caller_id}${metadata.result === undefined ? '' : ` ${metadata.result}`}`,
  );
  assert.deepEqual(shown, [
    'capability_issue allow send_* by operator',
    'request allow secrets.resolve by key:resolver',
    'secret_resolve allow send_email by key:resolver allow',
    'request block secrets.resolve by key:resolver',
    'secret_resolve block drop_table by key:resolver denied',
    'request allow send_email by key:plain',
    'capability_use block x by key:plain tool',
    'capability_revoke allow send_* by operator',
  ]);
  const resolution = found.json.events[2];
  assert.deepEqual(
    [resolution.data_tags, resolution.agent_id, resolution.session_id, resolution.metadata.secret_key],
    [['secret.credential'], 'mail-bot', 's1', 'mail_password'],
  );
});

/** Returns every byte of every file below a folder. */
function everything(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => {
      const entry = statSync(path);
      return entry.isDirectory() ? everything(path) : entry.isFile() ? readFileSync(path, 'latin1') : '';
    })
    .join('\n');
}

test('tokens and what they are for outlive a restart, and no token and no value is in anything that is kept', async () => {
  const { token, token_id } = await issue();
  const metrics = await (await fetch(`${service.url}/v1/metrics`)).text();
  assert.match(metrics, /endpoint="secrets_resolve",decision="allow"\} [1-9]/);
  const logs = service.logs();
  await service.kill('SIGKILL');
  service = await startTestService({ dir: service.dir, env: { VAULT_TOKEN }, keep: true });
  assert.equal((await ask('/v1/secrets/resolve', KEYS.resolver, resolving(token))).json.value, ROTATED);
  const seen = [everything(service.dir), logs, service.logs(), metrics].join('\n');
  assert.ok(seen.includes(token_id) && seen.includes('mail_password'), 'the search sees what is there');
  for (const text of [VALUE, ROTATED, VAULT_TOKEN, ...tokens.map((each) => each.slice(33))])
    assert.ok(!seen.includes(text), text.slice(0, 12));
  assert.ok(tokens.length > 8);
});
