/** Who shares the gateway's connections over HTTP, and who makes room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../operations/operation.ts';
import { testRuntime } from '../../operations/testing/runtime.ts';
import { caller } from '../../server/testing/examples.ts';
import { type Guest, openRooms } from './rooms.ts';

const GUEST: Guest = { tenant_id: 'default', agent_id: 'a', user_id: null, session_id: null, caller };

function rooms(sessions_max: number) {
  const { runtime } = testRuntime();
  return openRooms({
    runtime,
    servers: [],
    sessions_max,
    env: {},
    failed: (...said) => assert.fail(said.join()),
  });
}

test('nobody shares a room with another tenant, agent, user, session or credential', async () => {
  const all = rooms(10);
  const { room } = all.enter(GUEST);
  assert.equal(all.enter({ ...GUEST }).room, room);
  const others: readonly Partial<Guest>[] = [
    { tenant_id: 'b' },
    { agent_id: 'b' },
    { agent_id: null },
    { user_id: 'b' },
    { session_id: 'b' },
    { caller: { ...caller, id: 'b' } },
    // Another credential of the same subject.
    { caller: { ...caller, permissions: [] } },
    { caller: { ...caller, agents: ['a'] } },
  ];
  for (const other of others)
    assert.notEqual(all.enter({ ...GUEST, ...other }).room, room, JSON.stringify(other));
  assert.equal(others.length, 8);
  await all.close();
});

test('where there is no room, whoever was gone longest makes it, and nobody who is there', async () => {
  const all = rooms(2);
  const first = all.enter(GUEST);
  const second = all.enter({ ...GUEST, agent_id: 'b' });
  assert.throws(
    () => all.enter({ ...GUEST, agent_id: 'c' }),
    (error) => error instanceof Refusal && error.code === 'unavailable',
  );
  second.leave();
  second.leave();
  const third = all.enter({ ...GUEST, agent_id: 'c' });
  assert.notEqual(third.room, second.room);
  assert.equal(all.enter(GUEST).room, first.room, 'who was there keeps the room');
  third.leave();
  assert.notEqual(all.enter({ ...GUEST, agent_id: 'b' }).room, second.room, 'the former room is gone');
  await all.close();
});
