import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { sampleEvent, waitUntil } from '../../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { openBareReader, openTestSocket, runOnStage, type Stage } from '../testing/stage.ts';

const ROUND = 500;
const ROUNDS = 30;

/** Makes more events than the buffers of the system can hold. */
function buildLargeEvents(round: number): AuditEvent[] {
  return Array.from({ length: ROUND }, (_, index) =>
    sampleEvent(round * ROUND + index, { agent_id: `agent-${'x'.repeat(1_000)}` }),
  );
}

/** Emits all events, no faster than a reader reads them. */
async function tellAll({ tell }: Stage, seen: () => number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await tell(...buildLargeEvents(round));
    await waitUntil(() => seen() === (round + 1) * ROUND);
  }
}

test('a subscriber that reads nothing is disconnected, and delays no other', async () => {
  await runOnStage({}, async (stage) => {
    const { service } = stage;
    const stuck = await openBareReader(service);
    const reader = await openTestSocket(service);
    assert.equal(await service.connections(), 2);
    await tellAll(stage, () => reader.events.length);
    await waitUntil(async () => (await service.connections()) === 1);
    assert.equal(reader.socket.readyState, reader.socket.OPEN);
    reader.socket.terminate();
    stuck.destroy();
  });
});

test('a subscriber that reads too slowly gets an error, and can continue after the last event', async () => {
  await runOnStage({}, async (stage) => {
    const { service } = stage;
    const slow = await openTestSocket(service);
    const reader = await openTestSocket(service);
    slow.socket.pause();
    await tellAll(stage, () => reader.events.length);
    slow.socket.resume();
    const { code, reason } = await slow.closed;
    assert.equal(code, 1013);
    assert.match(reason, /too slowly/);
    const before = slow.events.length;
    assert.ok(before > 0 && before < ROUNDS * ROUND, `it has seen ${before}`);
    const last = slow.events.at(-1) as unknown as { event_id: string };
    const again = await openTestSocket(service, `?after=${last.event_id}`);
    await waitUntil(() => before + again.events.length === ROUNDS * ROUND);
    const ids = [...slow.events, ...again.events].map(
      (each) => (each as unknown as { event_id: string }).event_id,
    );
    assert.equal(new Set(ids).size, ROUNDS * ROUND);
    for (const { socket } of [reader, again]) socket.terminate();
  });
});

test('server-sent events: who reads nothing is dropped, too', async () => {
  await runOnStage({}, async (stage) => {
    const { service } = stage;
    const request = get({ host: '127.0.0.1', port: service.port, path: '/v1/events', agent: false });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.pause();
    request.on('error', () => {});
    answer.on('error', () => {});
    const reader = await openTestSocket(service);
    await tellAll(stage, () => reader.events.length);
    await waitUntil(async () => (await service.connections()) === 1);
    reader.socket.terminate();
    request.destroy();
  });
});
