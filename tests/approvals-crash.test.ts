/**
 * The service is killed at any moment while requests are created, decided and used. Afterwards it has every transition
 * that it answered, and its store contains nothing that is not in its journal. While the store is unavailable, calls
 * that need it are blocked.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { journalTexts, killAll } from './support/crash.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const ROUNDS = process.env.NIGHTLY === undefined ? 1 : 4;
const CLIENTS = 8;
const config = {
  policies: [{ name: 'pays', boundary: 'action', condition: { tools: ['pay'] }, action: 'require_approval' }],
  approvals: { pending_per_agent_max: 100_000, pending_max: 100_000 },
};

/** The states in which a client leaves a request. A kill before all were seen would prove too little. */
const ENDS = ['approved', 'consumed', 'denied'] as const;

/** The last answered state of each request. */
type Known = Map<string, 'pending' | 'approved' | 'denied' | 'consumed'>;

async function post(service: TestService, path: string, body: object, token?: string) {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes are looked into.
  return { status: answer.status, json: (await answer.json()) as any };
}

const getToken = ({ state_dir }: TestService) =>
  readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
const call = (sessionId: string) => ({
  tool: 'pay',
  agent_id: 'clerk',
  session_id: sessionId,
  input: { amount: 1 },
});

/** Creates, decides and uses requests until the connection breaks. Notes each state after its answer has arrived. */
async function client(service: TestService, name: string, known: Known): Promise<void> {
  const token = getToken(service);
  for (let at = 0; ; at++) {
    try {
      const { json } = await post(service, '/v1/intercept/tool', call(`${name}-${at}`));
      const id: string = json.approval.request_id;
      known.set(id, 'pending');
      const verb = at % 3 === 0 ? 'deny' : 'approve';
      const decided = await post(service, `/v1/approvals/${id}/${verb}`, {}, token);
      assert.equal(decided.status, 200, JSON.stringify(decided.json));
      known.set(id, decided.json.status);
      if (verb === 'deny' || at % 3 === 1) continue;
      const retry = { ...call(`${name}-${at}`), approval_request_id: id };
      const used = await post(service, '/v1/intercept/tool', retry);
      assert.equal(used.json.decision, 'allow', JSON.stringify(used.json));
      known.set(id, 'consumed');
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

/** Returns the transitions in the journal. */
function recorded(service: TestService): Set<string> {
  const seen = new Set<string>();
  for (const text of journalTexts(service)) {
    for (const line of text.split('\n').filter((each) => each.includes('"phase":"approval_'))) {
      const id = /"approval_request_id":"(\w+)"/.exec(line)?.[1];
      const state = /"phase":"approval_(\w+)"/.exec(line)?.[1];
      seen.add(`${id} ${state}`);
    }
  }
  return seen;
}

test('no answered transition is lost to SIGKILL, and none exists without its event', {
  timeout: 180_000,
}, async () => {
  const known: Known = new Map();
  let dir: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startTestService({ dir, config, keep: true, workers: 2 });
    dir = service.dir;
    const before = known.size;
    const aim = randomInt(10, 80);
    const clients = Array.from({ length: CLIENTS }, (_, at) => client(service, `${round}-${at}`, known));
    await until(() => known.size - before >= aim && ENDS.every((end) => [...known.values()].includes(end)));
    killAll(service);
    await Promise.all(clients);
  }
  assert.ok(known.size > ROUNDS * CLIENTS, `only ${known.size} requests were answered`);
  const service = await startTestService({ dir, config, workers: 2 });
  try {
    const seen = recorded(service);
    const headers = { authorization: `Bearer ${getToken(service)}` };
    const listed = await fetch(`${service.url}/v1/approvals?limit=1000`, { headers });
    const { approvals } = (await listed.json()) as { approvals: { request_id: string; status: string }[] };
    const stored = new Map(approvals.map(({ request_id, status }) => [request_id, status]));
    const AFTER: Readonly<Record<string, readonly string[]>> = {
      pending: ['pending', 'approved', 'denied'],
      approved: ['approved', 'consumed'],
      denied: ['denied'],
      consumed: ['consumed'],
    };
    for (const [id, status] of known)
      assert.ok(
        AFTER[status]!.includes(stored.get(id) ?? 'none'),
        `${id}: ${status}, stored ${stored.get(id)}`,
      );
    for (const [id, status] of stored) assert.ok(seen.has(`${id} ${status}`), `${id} ${status} has no event`);
    assert.ok(stored.size >= known.size);
    assert.deepEqual([...new Set(known.values())].sort().slice(0, 3), ENDS);
  } finally {
    await service.stop();
  }
});

test('while the store is away, what needs it is blocked, and everything continues when it is back', async () => {
  const service = await startTestService({ config, workers: 2 });
  try {
    const token = getToken(service);
    const first = await post(service, '/v1/intercept/tool', call('s'));
    const id: string = first.json.approval.request_id;
    assert.equal((await post(service, `/v1/approvals/${id}/approve`, {}, token)).status, 200);

    const away = join(service.dir, 'away');
    mkdirSync(away);
    const files = ['store.db', 'store.db-wal', 'store.db-shm'];
    for (const file of files) renameSync(join(service.state_dir, file), join(away, file));
    for (const body of [{ ...call('s'), approval_request_id: id }, call('t')]) {
      const { status, json } = await post(service, '/v1/intercept/tool', body);
      assert.deepEqual([status, json.decision, json.rule], [500, 'block', 'fault.store']);
      assert.equal(json.approval, undefined);
    }
    const refused = await post(service, `/v1/approvals/${id}/deny`, {}, token);
    assert.deepEqual([refused.status, refused.json.code], [503, 'unavailable']);
    const other = await post(service, '/v1/intercept/tool', { ...call('s'), tool: 'look' });
    assert.deepEqual([other.status, other.json.decision], [200, 'allow']);

    for (const file of files) {
      rmSync(join(service.state_dir, file), { force: true });
      renameSync(join(away, file), join(service.state_dir, file));
    }
    const retry = { ...call('s'), approval_request_id: id };
    const { json } = await post(service, '/v1/intercept/tool', retry);
    assert.deepEqual([json.decision, json.approval.status], ['allow', 'consumed']);
  } finally {
    await service.stop();
  }
});
