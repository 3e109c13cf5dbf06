// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/**
 * The state that nodes share, with `NOTIFY`: exact counts, tasks, sessions of people, jobs and deliveries that happen once, and the
 * end of a node.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import type { Store } from '../src/platform/store/index.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';
import { hashToken } from '../src/runtime/access/tokens.ts';
import { openServiceStore } from '../src/server/store.ts';
import { type ApiClient, openApiClient } from './support/api-client.ts';
import { runProgram } from './support/checkout.ts';
import { readCluster, scan, startNode } from './support/cluster.ts';
import type { TestService } from './support/service.ts';
import { until } from './support/until.ts';

const skip = explainMissingPostgres() ?? false;
const COST_MICRO_USD = 608;
const ANSWER = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-mini-2024-07-18' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 50, completion_tokens: 1_000, total_tokens: 1_050 },
};

/** Answers model calls, and receives the messages of approvals. */
const messages: string[] = [];
let modelCalls = 0;
const outside = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url?.startsWith('/hook')) messages.push(`${request.headers['webhook-id']}`);
    else modelCalls += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER));
  });
});

let server: PostgresServer;
let url: string;
let store: Store;
let dirA: string;
let a: TestService;
let b: TestService;
let callA: ApiClient;
let callB: ApiClient;
let config: Readonly<Record<string, unknown>>;

before(async () => {
  if (skip !== false) return;
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const target = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  config = {
    proxy: { target },
    cost: { budgets: [{ name: 'each-user', limit_usd: 0.005, scope: { user_id: 'each' } }] },
    approvals: { webhook: { url: `${target}/hook`, secret: '${HOOK_SECRET}', timeout_ms: 2_000 } },
    policies: [
      { name: 'refunds', boundary: 'action', condition: { tools: ['refund'] }, action: 'require_approval' },
    ],
  };
  server = await startPostgres();
  url = await server.makeDatabase();
  dirA = mkdtempSync(join(tmpdir(), 'cluster-a-'));
  const files = { 'contracts/search.yaml': CONTRACT };
  a = await startNode({ node_id: 'a', url }, { config, files, dir: dirA });
  b = await startNode({ node_id: 'b', url }, { config, files });
  [callA, callB] = [openApiClient(a), openApiClient(b)];
  store = await openServiceStore({ kind: 'postgres', url });
});
after(async () => {
  await Promise.all([a?.stop(), b?.stop(), store?.close()]);
  outside.close();
  await server?.remove();
  if (dirA !== undefined) rmSync(dirA, { recursive: true, force: true });
});

const LIMIT = 7;
const CONTRACT = `version: v1alpha1
contracts:
  - tool_name: search
    accepts: {tags: []}
    emits: {tags: []}
    side_effects: {reversible: true, requires_approval: false, egress: false}
    max_calls_per_minute: ${LIMIT}
`;

test('a limit of calls holds for both nodes together', { skip }, async () => {
  const search = async (call: ApiClient) => {
    const body = { tool: 'search', phase: 'request', agent_id: 'seeker', input: { q: 'x' } };
    return (await call('/v1/intercept/tool', { body, as: null })).body.decision as string;
  };
  const decisions = await Promise.all(
    Array.from({ length: 4 * LIMIT }, (_, at) => search(at % 2 === 0 ? callA : callB)),
  );
  assert.equal(decisions.filter((decision) => decision === 'allow').length, LIMIT);
});

test('a budget holds for both nodes together', { skip }, async () => {
  const ask = (node: TestService) =>
    fetch(`${node.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-agent': 'planner', 'x-service-user': 'ann' },
      body: JSON.stringify({
        ...{ model: 'gpt-4o-mini', max_tokens: 1_000 },
        messages: [{ role: 'user', content: 'Hello there.' }],
      }),
    });
  const answers = await Promise.all(Array.from({ length: 24 }, (_, at) => ask(at % 2 === 0 ? a : b)));
  const served = answers.filter(({ status }) => status === 200).length;
  assert.equal(served, modelCalls);
  assert.ok(served >= 1 && served * COST_MICRO_USD <= 5_000, `${served} were served`);
  assert.equal(answers.filter(({ status }) => status === 400).length, 24 - served);
});

test('a task and a capability that one node revokes are refused by the other at once', { skip }, async () => {
  const made = await callA('/v1/tasks', { body: { agent_id: 'support', tools: ['ls'] } });
  const use = async () => {
    const body = {
      ...{ tool: 'ls', phase: 'request', agent_id: 'support', input: {} },
      context: { task_id: made.body.task_id },
    };
    return (await callB('/v1/intercept/tool', { body, as: null })).body.decision;
  };
  assert.equal(await use(), 'allow', JSON.stringify(made.body));
  await callA(`/v1/tasks/${made.body.task_id}/revoke`, { body: {} });
  assert.equal(await use(), 'block');
  const issued = await callA('/v1/capabilities', {
    body: { agent_id: 'support', scope: { tool_name: 'ls' }, ttl: '5m' },
  });
  const validate = async () =>
    (
      await callB('/v1/capabilities/validate', {
        body: { capability_token_id: issued.body.token, tool: 'ls', agent_id: 'support' },
      })
    ).body;
  assert.equal((await validate()).valid, true, JSON.stringify([issued.body, await validate()]));
  await callA(`/v1/capabilities/${issued.body.token_id}/revoke`, { body: {} });
  assert.equal((await validate()).valid, false);
});

test('a person who signed in on one node is signed in on the other, until the end', { skip }, async () => {
  const link = `svc_link_${randomBytes(32).toString('base64url')}`;
  const row = { token_sha256: hashToken(link), user_id: null, expires_ms: Date.now() + 3_600_000 };
  await store.db.insertInto('user_links').values(row).execute();
  const password = ['correct', 'horse', 'battery', 'staple'].join(' ');
  const setUp = await fetch(`${a.url}/v1/session/set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: a.url },
    body: JSON.stringify({ token: link, password, user_id: 'root' }),
  });
  assert.equal(setUp.status, 200, await setUp.clone().text());
  const cookie = setUp.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const show = (node: TestService) => fetch(`${node.url}/v1/session`, { headers: { cookie } });
  const shown = await show(b);
  assert.equal(shown.status, 200);
  const { csrf_token } = (await shown.json()) as { csrf_token: string };
  const left = await fetch(`${b.url}/v1/session/sign-out`, {
    method: 'POST',
    headers: { cookie, origin: b.url, 'x-csrf-token': csrf_token, 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(left.status, 200, await left.text());
  assert.equal((await show(a)).status, 401);
});

test('an approval on one node releases a call on the other, and messages are sent once', {
  skip,
}, async (t) => {
  const times: number[] = [];
  for (let round = 0; round < 10; round++) {
    const body = { tool: 'refund', phase: 'request', input: { amount: round } };
    const held = await callA('/v1/intercept/tool', { body, as: null });
    const { request_id } = held.body.approval;
    const waiting = callA(`/v1/approvals/${request_id}?wait=60`).then(({ body: { status } }) => ({
      status,
      at_ms: performance.now(),
    }));
    await callA(`/v1/approvals/${request_id}`);
    const approved = await callB(`/v1/approvals/${request_id}/approve`, { body: { approver: 'ann' } });
    const atMs = performance.now();
    assert.equal(approved.body.status, 'approved');
    const released = await waiting;
    assert.equal(released.status, 'approved');
    times.push(Math.round(released.at_ms - atMs));
  }
  t.diagnostic(`milliseconds from the answer of the approver to the release: ${times.join(', ')}`);
  // Two messages for each request: it waits, and it is approved.
  await until(() => messages.length >= 20, 'the messages are delivered');
  assert.deepEqual([messages.length, new Set(messages).size], [20, 20]);
});

test('a node with another configuration is shown, on the command line too', { skip }, async () => {
  const c = await startNode({ node_id: 'c', url }, { config: { policy: { default_action: 'flag' } } });
  try {
    await until(async () => (await readCluster(a)).policies_differ === true, 'the difference is seen');
    await until(
      async () => (await callB('/v1/health')).body.cluster.policies_differ === true,
      'in the health',
    );
    const shown = await runProgram([process.execPath, MAIN_FILE, 'cluster', 'status'], { cwd: a.dir });
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^NODE +STATE +REVISION[^\n]*\na +live[\s\S]*\nb +live[\s\S]*\nc +live/);
    assert.match(shown.stderr, /different policies at the same revision/);
  } finally {
    await c.stop();
  }
  const seen = await readCluster(a);
  assert.deepEqual(
    seen.nodes.map(({ node_id }: { node_id: string }) => node_id),
    ['a', 'b'],
    'a node that stops leaves',
  );
});

const findHolders = async () =>
  (await store.db.selectFrom('cluster_jobs').select(['job', 'node_id']).execute()).map((row) => row.node_id);

test('jobs have one node; another takes them when it is killed, and its name is free again', {
  skip,
}, async () => {
  await until(async () => (await findHolders()).length > 0, 'a job is taken');
  const [first] = await findHolders();
  assert.ok((await findHolders()).every((nodeId) => nodeId === first || nodeId === 'b' || nodeId === 'a'));
  await a.kill('SIGKILL');
  await until(async () => {
    const seen = await readCluster(b);
    return seen.nodes[0].state === 'fenced';
  }, 'the other node sees its end');
  await until(async () => {
    const rows = await store.db.selectFrom('cluster_jobs').selectAll().execute();
    return rows.some(({ job, node_id }) => job.startsWith('approvals: end') && node_id === 'b');
  }, 'the other node takes the job');
  assert.equal((await scan(b)).decision, 'allow');
  a = await startNode({ node_id: 'a', url }, { dir: dirA });
  const seen = await readCluster(a);
  assert.deepEqual(
    seen.nodes.map(({ node_id, state }: Record<string, string>) => [node_id, state]),
    [
      ['a', 'live'],
      ['b', 'live'],
    ],
  );
});

test('the metrics show nodes, lease, lag and fences', { skip }, async () => {
  const { body } = await callB('/v1/metrics');
  assert.match(body, /^service_cluster_nodes 2$/m);
  assert.match(body, /^service_cluster_fenced 0$/m);
  assert.match(body, /^service_cluster_revision_lag 0$/m);
  for (const name of ['lease_age_seconds', 'staleness_seconds', 'fences_total'])
    assert.match(body, new RegExp(`^service_cluster_${name} \\d`, 'm'));
});
