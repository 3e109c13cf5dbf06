/** Sharing of sessions over HTTP, and eviction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildGuardPorts } from '../../entry/mcp/gateway/guard-ports.ts';
import { Refusal } from '../../operations/operation.ts';
import { createTestRuntime } from '../../operations/testing/runtime.ts';
import { caller } from '../../server/testing/examples.ts';
import { type ClientIdentity, openSessionPool } from './session-pool.ts';

const GUEST: ClientIdentity = {
  tenant_id: 'default',
  agent_id: 'a',
  user_id: null,
  session_id: null,
  task_id: null,
  caller,
};

function openTestPool(sessionsMax: number) {
  const { runtime } = createTestRuntime();
  return openSessionPool({
    runtime,
    buildGuardPorts,
    servers: [],
    sessions_max: sessionsMax,
    getTraceId: () => undefined,
    env: {},
    logFailure: (...stated) => assert.fail(stated.join()),
  });
}

test('no session is shared between callers, sessions or tasks', async () => {
  const all = openTestPool(10);
  const { session } = all.acquire(GUEST);
  assert.equal(all.acquire({ ...GUEST }).session, session);
  const others: readonly Partial<ClientIdentity>[] = [
    { tenant_id: 'b' },
    { agent_id: 'b' },
    { agent_id: null },
    { user_id: 'b' },
    { session_id: 'b' },
    { task_id: 'b' },
    { caller: { ...caller, id: 'b' } },
    // Another credential of the same subject.
    { caller: { ...caller, permissions: [] } },
    { caller: { ...caller, agents: ['a'] } },
  ];
  for (const other of others)
    assert.notEqual(all.acquire({ ...GUEST, ...other }).session, session, JSON.stringify(other));
  assert.equal(others.length, 9);
  await all.close();
});

test('a full pool closes the longest idle session, and no active one', async () => {
  const all = openTestPool(2);
  const first = all.acquire(GUEST);
  const second = all.acquire({ ...GUEST, agent_id: 'b' });
  assert.throws(
    () => all.acquire({ ...GUEST, agent_id: 'c' }),
    (error) => error instanceof Refusal && error.code === 'unavailable',
  );
  second.release();
  second.release();
  const third = all.acquire({ ...GUEST, agent_id: 'c' });
  assert.notEqual(third.session, second.session);
  assert.equal(all.acquire(GUEST).session, first.session, 'who was there keeps the room');
  third.release();
  assert.notEqual(
    all.acquire({ ...GUEST, agent_id: 'b' }).session,
    second.session,
    'the former room is gone',
  );
  await all.close();
});
