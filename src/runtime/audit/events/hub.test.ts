import assert from 'node:assert/strict';
import test from 'node:test';
import { Unavailable } from '../../../platform/unavailable.ts';
import { sampleEvent, waitUntil } from '../testing/audit-log.ts';
import { type EventHub, openEventHub } from './hub.ts';
import { buildStreamedEvent } from './streamed.ts';
import type { EventSink, StreamEndReason, SubscriptionRequest } from './types.ts';

const PAST = Array.from({ length: 40 }, (_, index) => buildStreamedEvent(sampleEvent(index)));

/** Opens a hub over existing events. */
function openStage(): {
  readonly hub: EventHub;
  readonly joined: () => number;
  readonly read: [number, number][];
} {
  let joined = 0;
  const read: [number, number][] = [];
  const hub = openEventHub({
    join: async () => {
      joined += 1;
      return 20;
    },
    leave: async () => {
      joined -= 1;
    },
    read: async (from, to) => {
      read.push([from, to]);
      return { events: PAST.slice(from, to), to };
    },
    find: async (eventId) => {
      const at = PAST.findIndex(({ event }) => event.event_id === eventId);
      return at < 0 ? null : { position: at + 1, streamed: PAST[at]! };
    },
    log: { error: (message) => assert.fail(message) },
    patience_ms: 200,
  });
  return { hub, joined: () => joined, read };
}

interface TestSink extends EventSink {
  readonly text: () => string;
  readonly ended: StreamEndReason[];
}

/** Makes a reader with this many buffered bytes until it is drained. */
function getSink(waiting: () => number, drained: Promise<void>): TestSink {
  let text = '';
  const ended: StreamEndReason[] = [];
  return {
    frame: {
      name: 'test',
      bytes: ({ event }) => Buffer.from(`${Number.parseInt(event.event_id.slice(4), 16)} `),
    },
    write: (bytes) => {
      text += bytes.toString();
    },
    waitingBytes: waiting,
    drained: () => drained,
    end: (why) => void ended.push(why),
    text: () => text,
    ended,
  };
}

const NEVER = new Promise<void>(() => {});

function request(sink: EventSink, after: string | null = null): SubscriptionRequest {
  return { scope: { tenants: '*', agents: '*', caller_id: null }, filter: {}, after, sink };
}

test('a worker limits its subscribers, and one that leaves frees a slot', async () => {
  const { hub, joined } = openStage();
  const readers = await Promise.all(
    Array.from({ length: 1_000 }, () => hub.subscribe(request(getSink(() => 0, NEVER)))),
  );
  await assert.rejects(hub.subscribe(request(getSink(() => 0, NEVER))), Unavailable);
  assert.equal(joined(), 1, 'all of them ask the parent once');
  readers[7]?.close();
  readers[7]?.close();
  assert.ok((await hub.subscribe(request(getSink(() => 0, NEVER)))) !== null);
  await assert.rejects(
    hub.subscribe(request(getSink(() => 0, NEVER))),
    Unavailable,
    'who leaves twice makes room once',
  );
  assert.equal(
    await hub
      .subscribe(
        request(
          getSink(() => 0, NEVER),
          'evt_ffffffffffffffffffffffff',
        ),
      )
      .catch(() => 'full'),
    'full',
  );
  for (const reader of readers) reader?.close();
  assert.ok((await hub.subscribe(request(getSink(() => 0, NEVER)))) !== null);
  hub.close();
  await assert.rejects(hub.subscribe(request(getSink(() => 0, NEVER))), Unavailable);
});

test('a subscriber that names an unknown event takes no slot', async () => {
  const { hub, joined } = openStage();
  for (let count = 0; count < 1_001; count++)
    assert.equal(
      await hub.subscribe(
        request(
          getSink(() => 0, NEVER),
          'evt_ffffffffffffffffffffffff',
        ),
      ),
      null,
    );
  assert.equal(joined(), 0);
});

test('a subscriber that catches up but reads nothing is disconnected after a wait; one that reads continues', async () => {
  const { hub } = openStage();
  const after = sampleEvent(4).event_id;
  const stuck = getSink(() => 300_000, NEVER);
  await hub.subscribe(request(stuck, after));
  let waiting = 300_000;
  const { promise: drained, resolve } = Promise.withResolvers<void>();
  const late = getSink(() => waiting, drained);
  await hub.subscribe(request(late, after));
  await waitUntil(() => late.text().split(' ').length - 1 === 15);
  waiting = 0;
  resolve();
  await waitUntil(() => stuck.ended.length === 1);
  assert.deepEqual([stuck.ended, late.ended], [['slow'], []]);
  const events = PAST.slice(20, 21).map(({ caller_id, json }) => ({ caller_id, json }));
  await hub.receive({ turn: 1, from: 20, to: 21, events });
  assert.match(late.text(), / 19 20 $/);
  assert.ok(!stuck.text().includes(' 20 '));
});

test('who has more waiting than is kept for it is dropped, and others get all', async () => {
  const { hub } = openStage();
  const [slow, quick] = [getSink(() => 1_048_577, NEVER), getSink(() => 1_048_576, NEVER)];
  await hub.subscribe(request(slow));
  await hub.subscribe(request(quick));
  const events = PAST.slice(20, 22).map(({ caller_id, json }) => ({ caller_id, json }));
  await hub.receive({ turn: 1, from: 20, to: 22, events });
  assert.deepEqual([slow.ended, slow.text()], [['slow'], '']);
  assert.deepEqual([quick.ended, quick.text()], [[], '20 21 ']);
});

test('what the parent could not keep is read, and what is of another turn is let go of', async () => {
  const { hub, read } = openStage();
  const sink = getSink(() => 0, NEVER);
  await hub.subscribe(request(sink));
  const events = PAST.slice(30, 31).map(({ caller_id, json }) => ({ caller_id, json }));
  await hub.receive({ turn: 7, from: 20, to: 31, events });
  assert.equal(sink.text(), '');
  await hub.receive({ turn: 1, from: 30, to: 31, events });
  assert.deepEqual(read, [[20, 30]]);
  assert.equal(sink.text(), '20 21 22 23 24 25 26 27 28 29 30 ');
});
