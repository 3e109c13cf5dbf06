import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Crossing, NO_PRINCIPAL, type Tag, type TaintChange } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import { RACERS, runRace } from '../../../platform/store/testing/races.ts';
import { withStores } from '../../../platform/store/testing/stores.ts';
import { buildExampleCrossing, buildExamplePorts, caller } from '../../../server/testing/examples.ts';
import type { AuditEvent } from '../../audit/types.ts';
import { type CountedCall, countCall, readRecentCalls } from './calls.ts';
import { deleteExpiredSessions } from './expiry.ts';
import { resetSession } from './reset.ts';
import { readSession, SESSION_TAGS_MAX, SessionFull, saveSession } from './sessions.ts';
import { LIMITS } from './testing/limits.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;

const at = (parts: Partial<Crossing> = {}): Crossing =>
  buildExampleCrossing('', { session_id: 's', now_ms: NOW, ...parts });

async function read(store: Store, parts: Partial<Crossing> = {}): Promise<readonly Tag[]> {
  return (await readSession(store, at(parts), LIMITS)).tags;
}

async function keep(
  store: Store,
  change: Partial<TaintChange>,
  parts: Partial<Crossing> = {},
): Promise<void> {
  const session = await readSession(store, at(parts), LIMITS);
  await saveSession(store, at(parts), session, { add: [], remove: [], ...change }, LIMITS);
}

const add = (store: Store, tags: readonly Tag[], parts: Partial<Crossing> = {}) =>
  keep(store, { add: tags }, parts);

/** A store that counts its writes. */
function createCountingStore(store: Store): { readonly store: Store; readonly writes: () => number } {
  let writes = 0;
  const transaction: Store['transaction'] = (work) => {
    writes += 1;
    return store.transaction(work);
  };
  return { store: { ...store, db: store.db, transaction }, writes: () => writes };
}

withStores('sessions', (law) => {
  law('what one process keeps, another one reads', async ({ store, another }) => {
    const other = await another();
    assert.deepEqual(await read(store), []);
    await add(store, ['untrusted.web', 'personal.pii.email']);
    await add(other, ['internal']);
    const all = ['internal', 'personal.pii.email', 'untrusted.web'];
    assert.deepEqual([await read(store), await read(other)], [all, all]);
  });

  law('nothing is written where nothing changes', async ({ store }) => {
    const counted = createCountingStore(store);
    await add(counted.store, ['a', 'b']);
    assert.equal(counted.writes(), 1);
    await add(counted.store, ['b']);
    await add(counted.store, ['a', 'b']);
    await keep(counted.store, { remove: ['c'] });
    assert.equal(counted.writes(), 1);
    await add(counted.store, ['c']);
    assert.equal(counted.writes(), 2);
  });

  law('tenants, sessions and agents are apart', async ({ store }) => {
    await add(store, ['a']);
    const others = [
      { tenant_id: 'acme' },
      { session_id: 's2' },
      { session_id: null },
      { agent_id: 'agent-2' },
    ];
    for (const parts of others) assert.deepEqual(await read(store, parts), [], JSON.stringify(parts));
    assert.deepEqual(await read(store, { agent_id: 'agent-2', source_agent_id: 'agent-1' }), ['a']);
    assert.equal(others.length, 4);
  });

  law('without a session an agent has one for all it does', async ({ store }) => {
    await add(store, ['a'], { session_id: null });
    assert.deepEqual(await read(store, { session_id: null }), ['a']);
    assert.deepEqual(await read(store, { session_id: null, agent_id: 'agent-2' }), []);
    assert.deepEqual(await read(store), []);
  });

  law('leaving the agent out of a session hides nothing', async ({ store }) => {
    const unknownAgent = { agent_id: 'unknown' };
    await add(store, ['seen-by-no-agent'], unknownAgent);
    await add(store, ['seen-by-one']);
    assert.deepEqual(await read(store), ['seen-by-no-agent', 'seen-by-one']);
    assert.deepEqual(await read(store, unknownAgent), ['seen-by-no-agent', 'seen-by-one']);
    assert.deepEqual(await read(store, { agent_id: 'agent-2' }), ['seen-by-no-agent']);
    assert.deepEqual(await read(store, { ...unknownAgent, session_id: null }), []);
  });

  law('what a message adds is read by who gets it', async ({ store }) => {
    const message = {
      boundary: 'action',
      phase: 'message',
      source_agent_id: 'agent-1',
      destination_agent_id: 'agent-2',
    } as const;
    await add(store, ['untrusted.web']);
    await add(store, ['personal.pii'], message);
    assert.deepEqual(await read(store), ['untrusted.web']);
    assert.deepEqual(await read(store, { agent_id: 'agent-2' }), ['personal.pii']);
  });

  law('tags go with their descendants, and others come in the same change', async ({ store }) => {
    await add(store, ['untrusted.web', 'untrusted.mail', 'personal.pii']);
    await keep(store, { remove: ['untrusted'], add: ['reviewed'] });
    assert.deepEqual(await read(store), ['personal.pii', 'reviewed']);
    await keep(store, { remove: 'all' });
    assert.deepEqual(await read(store), []);
  });

  law('a session is forgotten when no caller asks about it, and starts again', async ({ store }) => {
    await add(store, ['a']);
    for (const hours of [11, 22, 33])
      assert.deepEqual(await read(store, { now_ms: NOW + hours * HOUR }), ['a']);
    const later = { now_ms: NOW + 46 * HOUR };
    assert.deepEqual(await read(store, later), []);
    await add(store, ['b'], later);
    assert.deepEqual(await read(store, later), ['b']);
  });

  law('a session is forgotten after its time, in use or not', async ({ store }) => {
    await add(store, ['a']);
    for (let hours = 8; hours <= 168; hours += 8)
      assert.deepEqual(await read(store, { now_ms: NOW + hours * HOUR }), ['a'], String(hours));
    assert.deepEqual(await read(store, { now_ms: NOW + 169 * HOUR }), []);
  });

  law('a clock that is set back forgets nothing', async ({ store }) => {
    await add(store, ['a']);
    const before = { now_ms: NOW - 100 * 24 * HOUR };
    assert.deepEqual(await read(store, before), ['a']);
    await add(store, ['b'], before);
    assert.deepEqual(await read(store, before), ['a', 'b']);
  });

  law('a session that cannot take in more says so, and keeps what it has', async ({ store }) => {
    const many = Array.from({ length: SESSION_TAGS_MAX }, (_, number) => `tag-${number}`);
    await add(store, many);
    await assert.rejects(add(store, ['one-more']), SessionFull);
    assert.equal((await read(store)).length, SESSION_TAGS_MAX);
    await add(store, ['tag-0']);
  });

  law('a reset forgets what it names, and nothing else', async ({ store, another }) => {
    const events: AuditEvent[] = [];
    const reset = (sessionId: string | null, agentId: string | null, tenantId = 'default') =>
      resetSession({ tenant_id: tenantId, session_id: sessionId, agent_id: agentId }, caller, {
        ...buildExamplePorts(events),
        store: async () => store,
      });
    await add(store, ['a']);
    await add(store, ['b'], { agent_id: 'agent-2' });
    await add(store, ['c'], { session_id: null });
    assert.equal(await reset('s', null, 'acme'), 0);
    assert.equal(await reset('s', 'agent-3'), 0);
    assert.equal(await reset('s', 'agent-1'), 1);
    const other = await another();
    assert.deepEqual(await read(other), []);
    assert.deepEqual(await read(other, { agent_id: 'agent-2' }), ['b']);
    assert.equal(await reset('s', null), 1);
    assert.deepEqual(await read(other, { agent_id: 'agent-2' }), []);
    assert.deepEqual(await read(other, { session_id: null }), ['c']);
    assert.equal(await reset(null, 'agent-1'), 1);
    assert.deepEqual(await read(other, { session_id: null }), []);
    const reported = events.map(({ policy_name, tenant_id, session_id, agent_id, caller_id, metadata }) =>
      [policy_name, tenant_id, session_id, agent_id, caller_id, metadata.sessions].join(' '),
    );
    assert.deepEqual(reported.slice(2), [
      'service.session_reset default s agent-1 loopback 1',
      'service.session_reset default s unknown loopback 1',
      'service.session_reset default  agent-1 loopback 1',
    ]);
  });

  law('a reset that cannot be written down does not happen', async ({ store }) => {
    await add(store, ['a']);
    const full = {
      ...buildExamplePorts([]),
      store: async () => store,
      record: () => Promise.reject(new Error('full')),
    };
    const target = { tenant_id: 'default', session_id: 's', agent_id: null };
    await assert.rejects(resetSession(target, caller, full));
    assert.deepEqual(await read(store), ['a']);
  });

  law('processes that add at the same time lose nothing', async ({ store, settings }) => {
    const work = new URL('testing/add-tags.ts', import.meta.url);
    const done = await runRace<number, number>({ settings, work, input: 20 });
    assert.deepEqual(done, Array(RACERS).fill(20));
    assert.equal((await read(store)).length, RACERS * 20);
  });

  law('a kill loses nothing that was acknowledged', async ({ store, settings }) => {
    const child = fork(new URL('testing/acknowledged.ts', import.meta.url));
    const kept: number[] = [];
    const enough = new Promise<void>((resolve) => {
      child.on('message', (number: number) => {
        kept.push(number);
        if (kept.length === 25) resolve();
      });
    });
    child.send(settings);
    await enough;
    child.kill('SIGKILL');
    await once(child, 'exit');
    const tags = await read(store);
    for (const number of kept) assert.ok(tags.includes(`tag-${number}`), `tag-${number} is lost`);
    assert.ok(kept.length >= 25);
  });

  law('only what has expired is removed', async ({ store }) => {
    await add(store, ['old'], { session_id: 'old', now_ms: NOW - 13 * HOUR });
    await add(store, ['new'], { session_id: 'new' });
    const call = { ...at(), tool: 'x' };
    await countCall(store, { ...call, now_ms: NOW - 2 * HOUR }, { per_agent: 5 });
    await countCall(store, { ...call, tool: 'y' }, { per_agent: 5 });
    assert.equal(await deleteExpiredSessions(store, LIMITS, NOW), false);
    const sessions = await store.db.selectFrom('sessions').select('session_id').execute();
    const counts = await store.db.selectFrom('call_counts').select('tool_name').execute();
    assert.deepEqual([sessions, counts], [[{ session_id: 'new' }], [{ tool_name: 'y' }]]);
  });
});

withStores('counted calls', (law) => {
  const call = (parts: Partial<Crossing> = {}) => ({
    ...at({ boundary: 'action', phase: 'request', ...parts }),
    tool: parts.tool ?? 'mail.send',
  });
  const countFor = async (store: Store, given: CountedCall, callsMax: number) =>
    (await countCall(store, given, { per_agent: callsMax })).calls_last_minute;
  const readFor = async (store: Store, given: CountedCall) =>
    (await readRecentCalls(store, given, { per_agent: 1 })).calls_last_minute;

  law('so many in any minute, and not one more', async ({ store }) => {
    const take = (seconds: number) => countFor(store, call({ now_ms: NOW + seconds * 1_000 }), 3);
    const rows: [number, number][] = [
      [0, 1],
      [20, 2],
      [40, 3],
      [59, 4],
      [59.9, 4],
      // The first call is more than a minute old, and the refused calls were not counted.
      [60, 3],
      [61, 4],
      [80, 3],
      [200, 1],
    ];
    for (const [seconds, count] of rows) assert.equal(await take(seconds), count, `${seconds} s`);
    assert.equal(rows.length, 9);
  });

  law('tenants, agents and tools are counted apart, and asking counts nothing', async ({ store }) => {
    await countFor(store, call(), 3);
    await countFor(store, call(), 3);
    assert.equal(await readFor(store, call()), 3);
    assert.equal(await readFor(store, call()), 3);
    for (const parts of [{ tenant_id: 'acme' }, { agent_id: 'agent-2' }, { tool: 'mail.read' }])
      assert.equal(await readFor(store, call(parts)), 1, JSON.stringify(parts));
    // A call on behalf of another agent counts for both agents.
    assert.equal(await readFor(store, call({ agent_id: 'agent-2', source_agent_id: 'agent-1' })), 3);
  });

  law('a clock that is set back gives the tool back after a minute', async ({ store }) => {
    await countFor(store, call({ now_ms: NOW + HOUR }), 1);
    assert.equal(await countFor(store, call(), 1), 1);
    assert.equal(await countFor(store, call(), 1), 2);
    assert.equal(await countFor(store, call({ now_ms: NOW + 60_000 }), 1), 1);
  });

  law('the calls for a person add up over agents', async ({ store }) => {
    const forPerson = (userId: string, agentId: string, parts: Partial<Crossing> = {}) => {
      const user = { user_id: userId, user_email: null, groups: [], scopes: null };
      return call({ agent_id: agentId, principal: { ...NO_PRINCIPAL, user }, ...parts });
    };
    const take = async (given: CountedCall) =>
      (await countCall(store, given, { per_user: 3 })).calls_last_minute_for_user;
    assert.equal(await take(forPerson('alice', 'a')), 1);
    assert.equal(await take(forPerson('alice', 'b')), 2);
    assert.equal(await take(forPerson('alice', 'c')), 3);
    assert.equal(await take(forPerson('alice', 'd')), 4);
    assert.equal(await take(forPerson('alice', 'd')), 4, 'a call over the limit is not counted');
    assert.equal(await take(forPerson('bob', 'a')), 1);
    assert.equal(await take(forPerson('alice', 'a', { tenant_id: 'acme' })), 1);
    assert.equal(
      await take(call({ agent_id: 'alice' })),
      undefined,
      'a call without a person counts for none',
    );
    assert.equal(await take(forPerson('\u0001alice', 'a')), 1);
  });

  law('a call over one limit counts for none', async ({ store }) => {
    const user = { user_id: 'zoe', user_email: null, groups: [], scopes: null };
    const principal = { ...NO_PRINCIPAL, user };
    const limits = { per_agent: 1, per_user: 5 };
    await countCall(store, call({ agent_id: 'z', principal }), limits);
    const refused = await countCall(store, call({ agent_id: 'z', principal }), limits);
    assert.deepEqual(refused, { calls_last_minute: 2, calls_last_minute_for_user: 2 });
    const recent = await readRecentCalls(store, call({ agent_id: 'z', principal }), limits);
    assert.deepEqual(recent, { calls_last_minute: 2, calls_last_minute_for_user: 2 });
  });

  law('several processes have no more between them than one', async ({ settings, store }) => {
    const work = new URL('testing/take-calls.ts', import.meta.url);
    const taken = await runRace<number, object>({ settings, work, input: { tries: 25, calls_max: 60 } });
    assert.equal(
      taken.reduce((sum, each) => sum + each, 0),
      60,
    );
    assert.equal(
      await readFor(store, call({ now_ms: buildExampleCrossing('').now_ms, session_id: null })),
      61,
    );
  });
});
