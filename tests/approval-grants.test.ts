/** Grants from the outside: a real service with two workers, its API, its events and the command line. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root, runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const KEYS = {
  agent: ['svc', 'key', 'a'.repeat(43)].join('_'),
  other: ['svc', 'key', 'o'.repeat(43)].join('_'),
  ada: ['svc', 'key', 'd'.repeat(43)].join('_'),
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let service: TestService;
before(async () => {
  service = await startTestService({
    workers: 2,
    config: {
      policies: [
        {
          ...{ name: 'no-evil', boundary: 'action', action: 'block' },
          condition: { tools: ['mail'], when: 'args.to == "evil@example.com"' },
        },
        { name: 'mail-asks', boundary: 'action', action: 'require_approval', condition: { tools: ['mail'] } },
      ],
      auth: {
        api_keys: [
          { id: 'agent', sha256: sha256(KEYS.agent) },
          { id: 'other', sha256: sha256(KEYS.other) },
          { id: 'ada', sha256: sha256(KEYS.ada), may_act_for: ['ada'] },
        ],
      },
    },
    files: {
      'policies/money.yaml': [
        'version: v1alpha1',
        'contracts:',
        '  - tool_name: read_mail',
        '    emits: {origin: untrusted.mail}',
        '  - tool_name: send_money',
        '    flow:',
        '      arguments: {recipient: {any_of: [user], otherwise: require_approval}}',
        '      others: {any_of: [trivial], otherwise: require_approval}',
        '',
      ].join('\n'),
    },
  });
});
after(() => service.stop());

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers from many routes.
  readonly json: any;
}

async function ask(path: string, credential: string, body?: object, headers = {}): Promise<Reply> {
  const answer = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      // A connection for each request, so that both workers answer.
      connection: 'close',
      authorization: `Bearer ${credential}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}

const runCli = (...words: string[]) =>
  runProgram([join(root, 'service'), 'approvals', ...words], { cwd: service.dir });

const operator = () => readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();

interface MailCall {
  readonly key?: string;
  readonly more?: object;
  readonly headers?: object;
}

const mail = (
  sessionId: string,
  input: object,
  { key = KEYS.agent, more = {}, headers = {} }: MailCall = {},
) =>
  ask(
    '/v1/intercept/tool',
    key,
    { tool: 'mail', agent_id: 'clerk', session_id: sessionId, input, ...more },
    headers,
  );

async function request(call: Promise<Reply>): Promise<string> {
  const { json } = await call;
  assert.equal(json.approval?.status, 'pending', JSON.stringify(json));
  return json.approval.request_id;
}

async function grant(call: Promise<Reply>, terms: object = {}): Promise<string> {
  const id = await request(call);
  const { status, json } = await ask(`/v1/approvals/${id}/approve`, operator(), {
    grant: 'session',
    ...terms,
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json.grant_id;
}

const show = async (grantId: string) => (await ask(`/v1/approvals/grants/${grantId}`, operator())).json;
const TO_ADA = { to: 'ada@example.com', body: 'Hello' };

test('equal calls pass in both workers, others wait', async () => {
  const grantId = await grant(mail('s1', TO_ADA));
  for (let at = 0; at < 6; at++) {
    const { json } = await mail('s1', { to: 'ada@example.com', body: `Number ${at}` });
    assert.deepEqual([json.decision, json.rule], ['allow', 'mail-asks']);
  }
  const shown = await show(grantId);
  assert.deepEqual([shown.uses, shown.uses_max, shown.status], [6, 20, 'active']);
  await request(mail('s1', { to: 'bob@example.com', body: 'Hello' }));
  await request(mail('s1', { ...TO_ADA, bcc: 'bob@example.com' }));
  await request(mail('s1-other', TO_ADA));
  await request(mail('s1', TO_ADA, { more: { agent_id: 'helper' } }));
  await request(mail('s1', TO_ADA, { key: KEYS.other }));
  await request(mail('s1', TO_ADA, { key: KEYS.ada, headers: { 'x-service-user': 'ada' } }));
  await request(mail('s1', TO_ADA, { headers: { 'x-service-tenant': 'acme' } }));
  assert.equal((await show(grantId)).uses, 6);
});

test('a block stays a block', async () => {
  await grant(mail('s2', TO_ADA), { grant: 'any_arguments' });
  assert.equal((await mail('s2', { to: 'cid@example.com' })).json.decision, 'allow');
  const { json } = await mail('s2', { to: 'evil@example.com' });
  assert.deepEqual([json.decision, json.rule], ['block', 'no-evil']);
});

test('one use is one use, at both workers', async () => {
  const grantId = await grant(mail('s3', TO_ADA), { uses_max: 1 });
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_none, at) => mail('s3', { to: 'ada@example.com', body: `${at}` })),
  );
  assert.equal(replies.filter(({ json }) => json.decision === 'allow').length, 1);
  assert.deepEqual([(await show(grantId)).uses, (await show(grantId)).status], [1, 'used_up']);
});

test('revocation ends a grant at both workers', async () => {
  const grantId = await grant(mail('s4', TO_ADA));
  assert.equal((await mail('s4', TO_ADA)).json.decision, 'allow');
  assert.equal((await ask(`/v1/approvals/grants/${grantId}/revoke`, KEYS.agent, {})).status, 403);
  const { json } = await ask(`/v1/approvals/grants/${grantId}/revoke`, operator(), {});
  assert.deepEqual([json.status, json.revoked_by], ['revoked', 'operator']);
  for (let at = 0; at < 4; at++) await request(mail('s4', { to: 'ada@example.com', body: `${at}` }));
});

test('wrong choices and own calls are refused', async () => {
  const id = await request(mail('s5', TO_ADA));
  const approve = async (terms: object) =>
    (await ask(`/v1/approvals/${id}/approve`, operator(), terms)).status;
  assert.equal(await approve({ grant: 'session', uses_max: 101 }), 400);
  assert.equal(await approve({ grant: 'session', ttl: '25h' }), 400);
  assert.equal(await approve({ uses_max: 2 }), 400);
  assert.equal(await approve({ grant: 'everything' }), 400);
  const own = await request(mail('s5-own', TO_ADA, { key: operator() }));
  const refused = await ask(`/v1/approvals/${own}/approve`, operator(), { grant: 'session' });
  assert.equal(refused.status, 403);
});

test('a request lists its scopes and where values come from', async () => {
  const iban = 'DE89370400440532013000';
  const about = { agent_id: 'clerk', session_id: 's6' };
  await ask('/v1/intercept/tool', KEYS.agent, {
    ...{ ...about, tool: 'read_mail', phase: 'response', output: `Pay 20 to ${iban}` },
  });
  const pay = () =>
    ask('/v1/intercept/tool', KEYS.agent, {
      ...{ ...about, tool: 'send_money', input: { recipient: iban, amount: 20 } },
    });
  const id = await request(pay());
  const { json } = await ask(`/v1/approvals/${id}`, operator());
  assert.deepEqual(
    json.grants_proposed.map(({ scope }: { scope: string }) => scope),
    ['once', 'session', 'agent'],
  );
  const [origin] = json.origins;
  assert.deepEqual(
    [origin.argument, origin.labels, origin.named_by],
    ['recipient', ['untrusted.mail'], null],
  );
  assert.match(
    origin.sentence,
    /^`recipient` comes from `untrusted\.mail`, .* event evt_\w+, .* ago; no prompt/,
  );
  assert.doesNotMatch(JSON.stringify([json.origins, json.grants_proposed]), /DE8937/);
  const cli = await runCli('show', id);
  assert.match(cli.stdout, /from where +`recipient` comes from/);
  const grantId = await grant(pay(), { grant: 'agent' });
  assert.equal((await pay()).json.decision, 'allow');
  assert.deepEqual((await show(grantId)).bound_arguments, ['recipient']);
});

test('events name the grant, and hold no value', async () => {
  const secretish = 'kappa-7391@example.com';
  const grantId = await grant(mail('s7', { to: secretish, body: 'once' }));
  await mail('s7', { to: secretish, body: 'again' });
  // biome-ignore lint/suspicious/noExplicitAny: events of several kinds.
  let named: any[] = [];
  const readEvents = async () => {
    const { json } = await ask('/v1/audit/query', operator(), { session_id: 's7', limit: 50 });
    named = json.events.filter(
      ({ metadata }: { metadata: { grant_id?: string } }) => metadata.grant_id === grantId,
    );
    return named.length >= 3;
  };
  await until(readEvents, 'the events of the grant');
  assert.deepEqual(named.map(({ metadata }: { metadata: { phase: string } }) => metadata.phase).sort(), [
    'approval_approved',
    'approval_grant',
    'request',
  ]);
  assert.doesNotMatch(JSON.stringify(named), /kappa-7391/);
  const cli = await runCli('grants', 'list', '--status', 'active');
  assert.equal(cli.code, 0, cli.stderr);
  assert.match(cli.stdout, new RegExp(grantId));
  assert.doesNotMatch(cli.stdout, /kappa-7391/);
});

test('the sixth equal question proposes a rule with its replay', async () => {
  let last = '';
  for (let at = 0; at < 6; at++) {
    last = await request(mail('s8', { to: 'eve@example.com', body: `${at}` }));
    await ask(`/v1/approvals/${last}/approve`, operator(), {});
  }
  const { json } = await ask(`/v1/approvals/${last}/proposal`, operator());
  assert.equal(json.kind, 'rule', JSON.stringify(json));
  assert.match(json.policy, /condition: \{tools: \["mail"\], agents: \["clerk"\]\}/);
  assert.ok(json.replay.less_strict > 0, JSON.stringify(json.replay));
  assert.equal(json.replay.stricter, 0);
  const first = await request(mail('s9', { to: 'fay@example.com' }));
  assert.equal((await ask(`/v1/approvals/${first}/proposal`, operator())).status, 409);
  assert.equal((await ask(`/v1/approvals/${first}/proposal`, KEYS.agent)).status, 403);
});
