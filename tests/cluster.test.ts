/** Two nodes on one PostgreSQL, without `NOTIFY`: leases and polling alone carry every law. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BadLine, openBadLine } from '../src/platform/store/testing/bad-line.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';
import { type ApiClient, openApiClient } from './support/api-client.ts';
import { readCluster, readiness, scan, startNode } from './support/cluster.ts';
import type { TestService } from './support/service.ts';
import { until } from './support/until.ts';

const skip = explainMissingPostgres() ?? false;
const cluster = { notify: false };
const config = {
  policies: [
    {
      name: 'refunds',
      boundary: 'action',
      condition: { tools: ['refund'] },
      action: 'require_approval',
    },
  ],
};

let server: PostgresServer;
let url: string;
let line: BadLine;
let a: TestService;
let b: TestService;
let callA: ApiClient;
let callB: ApiClient;

before(async () => {
  if (skip !== false) return;
  server = await startPostgres();
  url = await server.makeDatabase();
  line = await openBadLine(url);
  a = await startNode({ node_id: 'a', url }, { cluster, config });
  // The second node also says what it does without the database: rules that need no state decide.
  const stateless = { ...cluster, on_partition: 'stateless', address: 'http://b.internal:8000' };
  b = await startNode({ node_id: 'b', url: line.url }, { cluster: stateless, config });
  [callA, callB] = [openApiClient(a), openApiClient(b)];
});
after(async () => {
  await Promise.all([a?.stop(), b?.stop()]);
  await line?.close();
  await server?.remove();
});

test('both nodes are live, at the same revision and with the same policy', { skip }, async () => {
  const seen = await readCluster(a);
  assert.deepEqual(
    seen.nodes.map(({ node_id, is_self, state, address }: Record<string, unknown>) => [
      ...[node_id, is_self, state, address],
    ]),
    [
      ['a', true, 'live', null],
      ['b', false, 'live', 'http://b.internal:8000'],
    ],
  );
  assert.deepEqual([seen.enabled, seen.is_fenced, seen.policies_differ], [true, false, false]);
  assert.equal(new Set(seen.nodes.map(({ policy_hash }: Record<string, string>) => policy_hash)).size, 1);
  assert.equal((await fetch(`${b.url}/v1/cluster`)).status, 403, 'not without a credential');
  // Both have the operator token of the secret.
  assert.equal((await openApiClient({ url: b.url, state_dir: a.state_dir })('/v1/cluster')).status, 200);
});

test('a second live node with the same name is refused, and says what to type', { skip }, async () => {
  await assert.rejects(
    startNode({ node_id: 'a', url }, { cluster }),
    /exit code 2[\s\S]*`a`. Set `cluster.node_id`/,
  );
  assert.equal((await readCluster(b)).nodes[0].state, 'live');
});

test('a saved policy is active on both nodes when the answer arrives', { skip }, async () => {
  assert.equal((await scan(b, 'Write to jane.doe@corp-mail.io today.')).decision, 'modify');
  const rule = { name: 'no-mail', boundary: 'input', data_tags: ['personal.pii.email'], action: 'block' };
  const saved = await callA('/v1/dashboard/tenants/default/policies', {
    method: 'PUT',
    body: { policies: [rule] },
  });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  assert.deepEqual([saved.body.cluster.nodes, saved.body.cluster.active_nodes], [2, 2]);
  const decided = await scan(b, 'Write to jane.doe@corp-mail.io today.');
  assert.deepEqual([decided.decision, decided.rule], ['block', 'no-mail']);
  const { body } = await callB('/v1/audit/query', { body: { event_id: decided.event_id } });
  assert.ok(body.events[0].policy_revision >= saved.body.cluster.policy_revision, 'the event names it');
});

test('a key is accepted and revoked on both nodes when the answers arrive', { skip }, async () => {
  const created = await callA('/v1/dashboard/keys', { body: { name: 'support' } });
  assert.deepEqual(created.body.cluster.active_nodes, 2, JSON.stringify(created.body));
  const use = async () =>
    (await callB('/v1/scan/input', { body: { text: 'hello' }, as: { token: created.body.key } })).status;
  assert.equal(await use(), 200);
  const revoked = await callA(`/v1/dashboard/keys/${created.body.key_id}/revoke`, {
    method: 'POST',
    body: {},
  });
  assert.equal(revoked.body.cluster.active_nodes, 2);
  assert.equal(await use(), 401);
});

test('the kill switch stops an agent on both nodes when the answer arrives', { skip }, async () => {
  const blocked = await callB('/v1/agents/block', { body: { agent_id: 'bad-bot' } });
  assert.deepEqual([blocked.body.cluster.nodes, blocked.body.cluster.active_nodes], [2, 2]);
  for (const node of [a, b])
    assert.equal((await scan(node, 'hello', { agent_id: 'bad-bot' })).rule, 'agent.blocked');
  await callA('/v1/agents/unblock', { body: { agent_id: 'bad-bot' } });
  for (const node of [a, b])
    assert.equal((await scan(node, 'hello', { agent_id: 'bad-bot' })).decision, 'allow');
});

test('an approval on one node releases the call that waits on the other', { skip }, async () => {
  const refund = { tool: 'refund', phase: 'request', input: { amount: 7 } };
  const held = await callA('/v1/intercept/tool', { body: refund, as: null });
  const { request_id } = held.body.approval;
  const waiting = callA(`/v1/approvals/${request_id}?wait=60`);
  const voted = await callB(`/v1/approvals/${request_id}/approve`, { body: { approver: 'ann' } });
  assert.equal(voted.status, 200, JSON.stringify(voted.body));
  assert.equal((await waiting).body.status, 'approved');
  const released = await callB('/v1/intercept/tool', {
    body: { ...refund, approval_request_id: request_id },
    as: null,
  });
  assert.equal(released.body.decision, 'allow', JSON.stringify(released.body));
  const again = await callA('/v1/intercept/tool', {
    body: { ...refund, approval_request_id: request_id },
    as: null,
  });
  assert.equal(again.body.decision, 'block', 'an approval is good for one call of the whole cluster');
});

test('a node without the database is fenced, says so, and recovers by itself', { skip }, async () => {
  line.goSilent();
  await until(async () => (await readiness(b)) === 503, 'the node without the database is not ready');
  const fenced = await scan(b);
  assert.deepEqual(
    [fenced.decision, fenced.rule],
    ['allow', 'default.allow'],
    '`stateless` lets rules decide',
  );
  const { body: health } = await callB('/v1/health');
  assert.equal(health.cluster.fenced, true);
  assert.ok(Date.parse(health.cluster.synced_at) < Date.now());
  const refund = await callB('/v1/intercept/tool', {
    body: { tool: 'refund', phase: 'request', input: { amount: 8 } },
    as: null,
  });
  assert.deepEqual([refund.body.decision, refund.body.approval ?? null], ['block', null]);
  await until(async () => (await readCluster(a)).nodes[1].state === 'fenced', 'the other node sees it');
  // A change does not wait for a node that does not decide.
  const changed = await callA('/v1/agents/block', { body: { agent_id: 'late-bot' } });
  assert.deepEqual([changed.body.cluster.nodes, changed.body.cluster.active_nodes], [1, 1]);
  line.cut();
  await until(async () => (await readiness(b)) === 200, 'the node is ready again');
  assert.equal((await scan(b, 'hello', { agent_id: 'late-bot' })).rule, 'agent.blocked');
  assert.ok((await readCluster(b)).nodes[1].fence_count >= 1);
  const events = await callB('/v1/audit/query', { body: { metadata_key: 'fenced', metadata_value: 'true' } });
  assert.ok(events.body.count > 0, JSON.stringify(events.body));
  const fences = await callB('/v1/audit/query', { body: { phase: 'cluster_fence' } });
  assert.deepEqual(
    fences.body.events.slice(0, 2).map(({ decision }: Record<string, string>) => decision),
    ['allow', 'block'],
    'the newest first: it has a lease again',
  );
});

test('the workers of a supervisor that is silent are fenced', { skip }, async () => {
  process.kill(a.pid, 'SIGSTOP');
  try {
    await until(async () => (await scan(a)).rule === 'fault.cluster', 'the lease ends without a word');
    assert.equal(await readiness(a), 503);
  } finally {
    process.kill(a.pid, 'SIGCONT');
  }
  await until(async () => (await readiness(a)) === 200, 'ready again');
  assert.equal((await scan(a)).decision, 'allow');
});

test('without the database a node blocks, and both come back', { skip }, async () => {
  await server.stop();
  await until(async () => (await scan(a)).rule === 'fault.cluster', 'the lease ends');
  assert.deepEqual([(await scan(a)).decision, await readiness(a)], ['block', 503]);
  await server.start();
  for (const node of [a, b]) await until(async () => (await readiness(node)) === 200, 'ready again');
  assert.equal((await scan(a)).decision, 'allow');
});
