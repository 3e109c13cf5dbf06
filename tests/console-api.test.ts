/** The reading routes of the console and its decisions on approvals, on a real service with two workers. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';

const AGENT_KEY = 'svc_key_acme';
const config = {
  policies: [
    { name: 'refunds', boundary: 'action', condition: { tools: ['refund'] }, action: 'require_approval' },
  ],
  auth: { api_keys: [{ id: 'acme', sha256: hash('sha256', AGENT_KEY, 'hex'), tenants: ['acme'] }] },
  dashboard: {
    users: [
      { user_id: 'ann', role: 'approver', tenants: ['acme'] },
      { user_id: 'gus', role: 'viewer', tenants: ['globex'] },
    ],
  },
};
/** Names that a page must show as text. */
const MARKER = '<img src=x onerror=alert(1)>‮bot';

let service: TestService;
let operator: string;

before(async () => {
  service = await startTestService({ config, workers: 2 });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(async () => service.stop());

type Headers = Readonly<Record<string, string>>;
const as = (user: string): Headers => ({ 'x-service-user': user });
const asOperator = (): Headers => ({ authorization: `Bearer ${operator}` });

async function ask(path: string, headers: Headers, body?: object) {
  const response = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of every shape.
  return { status: response.status, json: (await response.json()) as any };
}

async function requestRefund(tenantId: string, amount: number): Promise<string> {
  const call = {
    tool: 'refund',
    input: { amount },
    agent_id: MARKER,
    tenant_id: tenantId,
    session_id: `${tenantId}-session`,
  };
  const { json } = await ask('/v1/intercept/tool', {}, call);
  assert.equal(json.action, 'require_approval');
  return json.approval.request_id;
}

test('approval requests come in pages, of the tenants of the user only', async () => {
  for (let amount = 1; amount <= 5; amount++) await requestRefund('acme', amount);
  const foreign = await requestRefund('globex', 1);
  const seen: string[] = [];
  let cursor = '';
  let pages = 0;
  do {
    const path = `/v1/dashboard/approvals?status=pending&limit=2&cursor=${cursor}`;
    const { status, json } = await ask(path, as('ann'));
    assert.equal(status, 200);
    seen.push(...json.approvals.map((one: { request_id: string }) => one.request_id));
    cursor = json.next_cursor ?? '';
    pages++;
    if (pages === 1) {
      const abroad = await ask(`/v1/dashboard/approvals?status=pending&cursor=${cursor}`, as('gus'));
      assert.equal(abroad.status, 400, 'a cursor of another tenant');
    }
  } while (cursor !== '');
  assert.equal(pages, 3);
  assert.equal(new Set(seen).size, 5);
  assert.ok(!seen.includes(foreign));
  assert.equal((await ask('/v1/dashboard/approvals?tenant_id=globex', as('ann'))).status, 403);
});

test('only an approver decides, and several requests are denied at once', async () => {
  const ids = [await requestRefund('acme', 100), await requestRefund('acme', 101)];
  const body = { request_ids: [...ids, 'apr_none'], note: 'Not today.' };
  const path = '/v1/dashboard/approvals/deny';
  assert.equal((await ask(path, {}, body)).status, 403);
  assert.equal((await ask(path, as('ann'), body)).status, 403, 'a name in a header decides nothing');
  assert.equal((await ask(path, { 'x-service-key': AGENT_KEY }, body)).status, 403);
  const { status, json } = await ask(path, asOperator(), body);
  assert.equal(status, 200);
  assert.deepEqual(json.denied, ids);
  assert.deepEqual(
    json.failed.map(({ request_id, code }: Record<string, string>) => [request_id, code]),
    [['apr_none', 'not_found']],
  );
  const again = await ask(`/v1/dashboard/approvals/${ids[0]}/approve`, asOperator(), {});
  assert.equal(again.status, 409);
  const many = { request_ids: Array.from({ length: 101 }, (_, at) => `apr_${at}`) };
  assert.equal((await ask(path, asOperator(), many)).status, 400);
});

test('every page answers from both workers with what was decided before', async () => {
  const paths = [
    'overview',
    'incidents',
    'observe/agents',
    'observe/sessions',
    'observe/sessions/acme-session',
    'observe/tools',
    'observe/tools/refund/contract',
    'observe/metrics',
    'rules',
    'detection',
    'breakdown?by=tool',
    'templates',
  ];
  for (const path of paths)
    for (let time = 0; time < 3; time++) {
      const { status, json } = await ask(`/v1/dashboard/${path}`, as('ann'));
      assert.equal(status, 200, `${path} ${JSON.stringify(json)}`);
      assert.ok(!JSON.stringify(json).includes('globex'), path);
    }
  assert.equal(paths.length, 12);
  const { json: overview } = await ask('/v1/dashboard/overview', as('ann'));
  assert.equal(overview.top.agents[0].name, MARKER);
  assert.equal(overview.pending_approvals, 5);
  const { json: draft } = await ask('/v1/dashboard/observe/tools/refund/contract', as('ann'));
  assert.equal(draft.arguments_from, 'approval_requests');
  assert.deepEqual(draft.contract.arguments.properties, { amount: { type: 'number' } });
  assert.deepEqual(draft.contract.flow.arguments.amount.any_of, ['user']);
  assert.equal(draft.reasons['flow.arguments.amount'], 'money: only the person');
  const [incident] = overview.recent_incidents;
  const { json: detail } = await ask(`/v1/dashboard/incidents/${incident.event_id}`, as('ann'));
  assert.equal(detail.explanation_status, 'explained');
  assert.ok(detail.policy.is_active);
  assert.equal((await ask(`/v1/dashboard/incidents/${incident.event_id}`, as('gus'))).status, 404);
});

test('an incident shows the places of its findings, and a value is allowlisted from there', async () => {
  const key = ['sk-', 'ABCDEF1234567890'].join('');
  const scan = async (body: object) =>
    (await ask('/v1/scan/input', {}, { agent_id: 'bot', tenant_id: 'acme', ...body })).json;
  const blocked = await scan({ text: `Use key ${key}` });
  assert.equal(blocked.decision, 'block');
  const path = `/v1/dashboard/incidents/${blocked.event_id}`;
  const { json: detail } = await ask(path, as('ann'));
  assert.deepEqual(detail.finding_places, [
    { finding_index: 0, rule_id: 'generic.sk_key', text_index: 0, start: 8, end: 27, can_allowlist: true },
  ]);
  assert.equal(detail.replay.change, 'same');
  // The stored place is sealed: two events of one value hold different texts, and none holds the fingerprint.
  const again = await scan({ text: `Use key ${key}` });
  const places = [detail, (await ask(`/v1/dashboard/incidents/${again.event_id}`, as('ann'))).json].map(
    ({ event }) => event.metadata.finding_places[0] as string,
  );
  assert.notEqual(places[0], places[1]);
  assert.ok(places.every((place) => !place.includes('hmac-sha256') && !place.includes(key)));

  const entry = {
    event_id: blocked.event_id,
    reason: 'A public test key',
    expires_in: '1d',
    tenant_id: 'acme',
  };
  const refusals: [object, Headers, number][] = [
    [entry, as('ann'), 403],
    [{ ...entry, finding_index: 7 }, asOperator(), 404],
    [{ ...entry, event_id: 'evt_000000000000000000000000' }, asOperator(), 404],
    [{ ...entry, fingerprint: `hmac-sha256:${'0'.repeat(64)}` }, asOperator(), 400],
    [{ reason: 'x', expires_in: '1d' }, asOperator(), 400],
  ];
  for (const [body, headers, status] of refusals)
    assert.equal((await ask('/v1/dashboard/allowlist', headers, body)).status, status, JSON.stringify(body));
  assert.equal((await scan({ text: `Use key ${key}` })).decision, 'block');

  const added = await ask('/v1/dashboard/allowlist', asOperator(), entry);
  assert.equal(added.status, 200, JSON.stringify(added.json));
  assert.match(added.json.fingerprint, /^hmac-sha256:[0-9a-f]{64}$/);
  assert.equal((await scan({ text: `Use key ${key}` })).decision, 'allow');
  assert.equal((await scan({ text: `Use key ${key}`, tenant_id: 'globex' })).decision, 'block');
  assert.equal((await scan({ text: `Use key ${key}9` })).decision, 'block');
  const { json: later } = await ask(path, as('ann'));
  assert.equal(
    later.replay.change,
    'unknown',
    'the allowlist is part of detection, which an event does not repeat',
  );
});

test('a tried text is in no event, and its scan counts nowhere', async () => {
  const key = ['sk-', 'TRIED9876543210XY'].join('');
  const text = `hush-marker-5512 ${key}`;
  const own = await startTestService({
    config: { ...config, audit: { log_inputs: true } },
    workers: 1,
  });
  try {
    const token = readFileSync(join(own.state_dir, 'operator-token'), 'utf8').trim();
    const call = async (path: string, body: object | null, headers: Headers) => {
      const response = await fetch(`${own.url}${path}`, {
        method: body === null ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== null && { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    };
    const person = { authorization: `Bearer ${token}` };
    const tried = await call('/v1/dashboard/detection/try', { text, tenant_id: 'acme' }, person);
    assert.equal(tried.status, 200, tried.text);
    const answer = JSON.parse(tried.text);
    assert.equal(answer.decision, 'block');
    assert.equal(answer.violations[0].start, 17, 'the answer has places');
    const { text: found } = await call('/v1/audit/query', { event_id: answer.event_id }, person);
    const [event] = JSON.parse(found).events;
    assert.equal(event.event_id, answer.event_id);
    assert.equal(event.metadata.self_test, true);
    assert.ok(event.metadata.redacted_text === undefined && event.metadata.finding_places === undefined);
    assert.ok(!found.includes('hush-marker') && !own.logs().includes('hush-marker'));
    const overview = JSON.parse((await call('/v1/dashboard/overview?last=24h', null, as('ann'))).text);
    assert.equal(overview.events_total, 0);
    assert.ok(!(await call('/v1/metrics', null, person)).text.match(/scan_input",decision="block"\} [1-9]/));
    assert.ok(!(await call('/v1/health', null, {})).text.includes('console-try-it'));
    assert.equal((await call('/v1/dashboard/detection/try', { text }, {})).status, 403, 'an agent');
    const triedCall = { tool: 'Bash', input: { command: 'rm -rf / # hush-marker' } };
    const refused = await call('/v1/dashboard/action/try', triedCall, person);
    const { decision, effects, event_id } = JSON.parse(refused.text);
    assert.deepEqual([decision, effects.length], ['block', 1], refused.text);
    const { text: kept } = await call('/v1/audit/query', { event_id }, person);
    assert.ok(kept.includes('"self_test":true') && !kept.includes('hush-marker'), kept);
    assert.equal((await call('/v1/dashboard/action/try', triedCall, {})).status, 403, 'an agent');
    // The same text as traffic is counted and logged, so that the test can fail.
    const scanned = await call('/v1/scan/input', { text, agent_id: 'bot', tenant_id: 'acme' }, {});
    const logged = await call('/v1/audit/query', { event_id: JSON.parse(scanned.text).event_id }, person);
    assert.ok(logged.text.includes('hush-marker') && !logged.text.includes(key));
    assert.equal(
      JSON.parse((await call('/v1/dashboard/overview?last=24h', null, as('ann'))).text).events_total,
      1,
    );
  } finally {
    await own.stop();
  }
});
