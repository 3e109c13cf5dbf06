/** A hook acts for the person whom the token of its environment proves, with and without a process that answers. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { expectRows } from '../../src/core/testing/expect-rows.ts';
import { createIdentityProvider } from '../support/identity-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { gone, hook, readOwner, run } from './support.ts';

const { jwt, files: keyFile, issue, forge } = createIdentityProvider();
const contracts = [{ tool_name: 'send_email', required_scopes: ['email.send'] }];
const files = {
  ...keyFile,
  'contracts/tools.yaml': JSON.stringify({ version: 'v1alpha1', contracts }),
};
const config = {
  auth: { jwt },
  policies: [
    {
      name: 'no-contractors',
      boundary: 'action',
      action: 'block',
      condition: { tools: ['deploy'], groups: ['contractors'] },
    },
    {
      name: 'no-background',
      boundary: 'action',
      action: 'block',
      condition: { tools: ['deploy'], agent_tiers: ['background'] },
    },
  ],
};

interface Decided {
  readonly decision: string;
  readonly rule: string;
  readonly reason: string;
  readonly event_id: string | null;
  readonly agent_id: string;
}

type Environment = Readonly<Record<string, string>>;

async function decide(
  dir: string,
  call: object,
  env: Environment,
  words: readonly string[] = [],
): Promise<Decided> {
  const { stdout, stderr } = await hook(dir, { input: {}, ...call }, ['--dialect', 'plain', ...words], env);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as Decided;
}

interface Row {
  readonly name: string;
  /** `null`: the variable is not set. */
  readonly token: string | null;
  readonly call?: object;
  readonly decision: 'allow' | 'block';
  readonly rule: string;
}

const EMAIL = { tool: 'send_email' };
const DEPLOY = { tool: 'deploy' };
const scope = 'email.send';
const act = { sub: 'mailer', act: { sub: 'lead' } };

const ROWS: readonly Row[] = [
  { name: 'valid', token: issue({ scope }), decision: 'allow', rule: 'default.allow' },
  { name: 'absent', token: null, decision: 'block', rule: 'contract.required_scopes' },
  {
    name: 'scope too small',
    token: issue({ scope: 'email.read' }),
    decision: 'block',
    rule: 'contract.required_scopes',
  },
  { name: 'forged', token: forge({ scope }), decision: 'block', rule: 'hook.user_token' },
  { name: 'expired', token: issue({ scope }, -60), decision: 'block', rule: 'hook.user_token' },
  {
    name: 'wrong audience',
    token: issue({ scope, aud: 'wiki' }),
    decision: 'block',
    rule: 'hook.user_token',
  },
  { name: 'empty', token: '', decision: 'block', rule: 'hook.user_token' },
  { name: 'no token', token: 'not a token\r\nx: y', decision: 'block', rule: 'hook.user_token' },
  {
    name: 'no permission to check',
    token: issue({ scope, permissions: ['policy:read'] }),
    decision: 'block',
    rule: 'hook.user_token',
  },
  { name: 'absent, without need', token: null, call: DEPLOY, decision: 'allow', rule: 'default.allow' },
  {
    name: 'forged, without need',
    token: forge(),
    call: DEPLOY,
    decision: 'block',
    rule: 'hook.user_token',
  },
  {
    name: 'group',
    token: issue({ groups: ['contractors'] }),
    call: DEPLOY,
    decision: 'block',
    rule: 'no-contractors',
  },
  {
    name: 'tier',
    token: issue({ agent_tier: 'background' }),
    call: DEPLOY,
    decision: 'block',
    rule: 'no-background',
  },
  { name: 'chain', token: issue({ scope, act }), decision: 'allow', rule: 'default.allow' },
  {
    name: 'another agent than the chain',
    token: issue({ scope, act }),
    call: { ...EMAIL, agent_id: 'lead' },
    decision: 'block',
    rule: 'hook.user_token',
  },
  {
    name: 'an agent outside of the scope',
    token: issue({ scope, agent_id: ['mailer'] }),
    call: { ...EMAIL, agent_id: 'lead' },
    decision: 'block',
    rule: 'hook.user_token',
  },
  {
    name: 'a tenant outside of the scope',
    token: issue({ scope, tenant_id: ['acme'] }),
    call: { ...EMAIL, tenant_id: 'umbrella' },
    decision: 'block',
    rule: 'hook.user_token',
  },
  {
    name: 'the only tenant and agent',
    token: issue({ scope, tenant_id: ['acme'], agent_id: ['mailer'] }),
    decision: 'allow',
    rule: 'default.allow',
  },
];

function environmentOf(token: string | null): Environment {
  return token === null ? {} : { SERVICE_USER_TOKEN: token };
}

async function expectDecisions(dir: string, env: Environment): Promise<void> {
  for (const { name, token, call = EMAIL, decision, rule } of expectRows(18, ROWS)) {
    const decided = await decide(dir, call, { ...env, ...environmentOf(token) });
    // A refusal without an evaluation names its rule in its event alone.
    const isRefused = rule === 'hook.user_token';
    assert.deepEqual([decided.decision, decided.rule], [decision, isRefused ? decided.rule : rule], name);
    if (isRefused)
      assert.match(decided.reason, /SERVICE_USER_TOKEN|scope of the credential|of the chain/, name);
  }
}

/** No token is in any file of the state folder. */
function expectNoToken(stateDir: string): void {
  const texts = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(stateDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
  assert.ok(texts.some((text) => text.includes('hook.user_token')));
  for (const { token } of ROWS) {
    const signature = token?.split('.')[2];
    if (signature !== undefined) assert.ok(texts.every((text) => !text.includes(signature)));
  }
}

function createFolder(t: TestContext, text: object = config): string {
  const dir = mkdtempSync(join(tmpdir(), 'hook-user-token-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, content] of Object.entries({ ...files, 'service.yaml': JSON.stringify(text) })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

const ALONE = { SERVICE_HOOK_DAEMON: 'off' };

let service: TestService;
before(async () => {
  service = await startTestService({ config, files });
});
after(() => service.stop());

async function findEvents(dir: string, words: readonly string[]) {
  const { stdout } = await run(dir, ['logs', '--json', ...words]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

test('a hook of a service acts for the person of the token', async () => {
  await expectDecisions(service.dir, {});
  const events = await findEvents(service.dir, ['--user', 'alice']);
  const chained = events.find(({ chain }) => (chain as readonly string[]).length > 0);
  const { user_id, chain, agent_id, caller_id } = chained ?? {};
  assert.deepEqual(
    [user_id, chain, agent_id, caller_id],
    ['alice', ['lead', 'mailer'], 'mailer', 'jwt:alice'],
  );
  assert.ok(events.some(({ tenant_id, agent_id }) => tenant_id === 'acme' && agent_id === 'mailer'));
  const refused = await findEvents(service.dir, ['--policy', 'hook.user_token']);
  assert.equal(refused.length, ROWS.filter(({ rule }) => rule === 'hook.user_token').length);
  assert.ok(refused.every((event) => event.user_id === undefined || event.user_id === null));
  assert.ok(!service.logs().includes('eyJ'));
  expectNoToken(service.state_dir);
});

test('a hook that decides alone acts for the person of the token', async (t) => {
  const dir = createFolder(t);
  // The policy of this call is saved, and the calls with a token need more than that.
  assert.equal((await decide(dir, DEPLOY, ALONE)).decision, 'allow');
  await expectDecisions(dir, ALONE);
  expectNoToken(join(dir, '.service'));
});

test('a daemon acts for the person of each call, and keeps no token', async (t) => {
  const dir = createFolder(t);
  const token = issue({ scope });
  assert.equal((await decide(dir, EMAIL, environmentOf(token))).decision, 'allow');
  await until(() => readOwner(dir) !== null, 'a daemon comes up');
  const daemon = readOwner(dir)!;
  t.after(async () => {
    process.kill(daemon, 'SIGKILL');
    await gone(daemon);
  });
  assert.ok(!readFileSync(`/proc/${daemon}/environ`, 'latin1').includes(token));
  await expectDecisions(dir, {});
  assert.equal(readOwner(dir), daemon);
  expectNoToken(join(dir, '.service'));
});

test('a token is refused where nothing verifies it', async (t) => {
  const dir = createFolder(t, { policies: [] });
  assert.equal((await decide(dir, DEPLOY, ALONE)).decision, 'allow');
  const { decision, reason } = await decide(dir, DEPLOY, { ...ALONE, ...environmentOf(issue()) });
  assert.equal(decision, 'block');
  assert.match(reason, /no `auth\.jwt`/);
});
