import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiKey } from '../src/runtime/access/tokens.ts';
import { openApiClient } from './support/api-client.ts';
import { createIdentityProvider } from './support/identity-provider.ts';
import { startTestService, type TestService } from './support/service.ts';

const { jwt, files: keyFile, issue, forge } = createIdentityProvider();
const orchestrator = createApiKey('orchestrator');
const plain = createApiKey('plain');

const config = {
  auth: {
    required: true,
    jwt,
    api_keys: [{ ...orchestrator.entry, may_act_for: ['alice'] }, plain.entry],
  },
  policies: [
    {
      name: 'no-mallory',
      boundary: 'action',
      action: 'block',
      condition: { tools: ['notes'], users: ['mallory'] },
    },
  ],
};
const contracts = [
  { tool_name: 'send_email', required_scopes: ['email.send'] },
  { tool_name: 'read_file', max_calls_per_minute_per_user: 3 },
];
const files = {
  ...keyFile,
  'contracts/tools.yaml': JSON.stringify({ version: 'v1alpha1', contracts }),
};

let service: TestService;
before(async () => {
  service = await startTestService({ config, files });
});
after(() => service.stop());

interface Answer {
  readonly status: number;
  readonly decision?: string;
  readonly rule?: string;
  readonly event_id?: string;
  readonly violations?: readonly { readonly type: string; readonly rule?: string }[];
}

async function call(credential: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${credential}`, ...headers },
    body: JSON.stringify({ input: {}, ...body }),
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

async function findEvents(filter: object) {
  const { body } = await openApiClient(service)('/v1/audit/query', { body: filter });
  return body.events as readonly Readonly<Record<string, unknown>>[];
}

const email = { tool: 'send_email', agent_id: 'mailer' };

test('a forged or expired token is refused', async () => {
  const scopes = { scope: 'email.send' };
  assert.equal((await call(issue(scopes), email)).decision, 'allow');
  assert.equal((await call(forge(scopes), email)).status, 401);
  assert.equal((await call(issue(scopes, -60), email)).status, 401);
  const loop = { sub: 'mailer', act: { sub: 'lead', act: { sub: 'mailer' } } };
  assert.equal((await call(issue({ ...scopes, act: loop }), email)).status, 401);
});

test('a tool needs the scope of a proved person', async () => {
  for (const answer of [
    await call(issue({ scope: 'email.read' }), email),
    await call(issue({ scope: 'email.send', azp: 'alice' }), email),
    await call(plain.key, { ...email, context: { user_id: 'alice' } }),
    await call(plain.key, email, { 'x-service-user': 'alice' }),
    await call(orchestrator.key, { ...email, context: { user_id: 'alice' } }),
  ]) {
    assert.equal(answer.rule, 'contract.required_scopes');
    assert.equal(answer.violations?.[0]?.type, 'identity_violation');
  }
});

test('a rule on people sees whom a key may act for', async () => {
  const notes = { tool: 'notes', agent_id: 'mailer' };
  const decide = async (key: string, userId: string) =>
    (await call(key, { ...notes, context: { user_id: userId } })).decision;
  assert.equal(await decide(orchestrator.key, 'alice'), 'allow');
  assert.equal(await decide(orchestrator.key, 'bob'), 'block');
  assert.equal(await decide(orchestrator.key, 'аlice'), 'block');
  assert.equal(await decide(plain.key, 'alice'), 'block');
  assert.equal((await call(orchestrator.key, notes, { 'x-service-user': 'alice' })).decision, 'allow');
});

test('events name the person and the chain, and are found by the person', async () => {
  const token = issue({
    sub: 'zoe',
    email: 'zoe@corp.test',
    groups: ['staff'],
    scope: 'email.send',
    act: { sub: 'mailer', act: { sub: 'lead' } },
    agent_tier: 'subagent',
  });
  const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  const { event_id } = await call(token, { tool: 'send_email' }, { traceparent });
  const [event, ...others] = await findEvents({ user_id: 'zoe' });
  assert.equal(others.length, 0);
  const { user_id, user_email, groups, chain, agent_id, agent_tier, trace_id } = event!;
  assert.deepEqual(
    { event_id: event!.event_id, user_id, user_email, groups, chain, agent_id, agent_tier, trace_id },
    {
      event_id,
      user_id: 'zoe',
      user_email: 'zoe@corp.test',
      groups: ['staff'],
      chain: ['lead', 'mailer'],
      agent_id: 'mailer',
      agent_tier: 'subagent',
      trace_id: 'ab'.repeat(16),
    },
  );
  await call(plain.key, { tool: 'x', context: { user_id: 'zoe' } });
  assert.equal((await findEvents({ user_id: 'zoe' })).length, 1, 'a claimed person is not found');
  assert.equal((await call(token, { tool: 'send_email', agent_id: 'lead' })).status, 403);
});

test('the calls for a person add up over agents', async () => {
  const read = (sub: string, agentId: string) =>
    call(issue({ sub }), { tool: 'read_file', agent_id: agentId }).then(({ rule }) => rule);
  const rules = [];
  for (const agentId of ['a', 'b', 'c', 'd']) rules.push(await read('carol', agentId));
  assert.deepEqual(rules, [
    ...Array.from({ length: 3 }, () => 'default.allow'),
    'contract.max_calls_per_minute_per_user',
  ]);
  assert.equal(await read('dave', 'a'), 'default.allow');
  assert.equal((await call(plain.key, { tool: 'read_file', agent_id: 'a' })).rule, 'contract.user');
});
