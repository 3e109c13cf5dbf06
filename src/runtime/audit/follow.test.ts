import assert from 'node:assert/strict';
import test from 'node:test';
import { type FollowOptions, followJournal } from './follow.ts';
import { type AuditLog, appendRange, makeAuditLog, sampleEvent } from './testing/audit-log.ts';

/** Follows until `count` events have arrived. Reports when following has begun. */
function follow(trail: AuditLog, from: FollowOptions['from'], count: number): Promise<number[]> {
  const stop = new AbortController();
  return (async () => {
    const seen: number[] = [];
    for await (const { event } of followJournal({ dir: trail.dir, from, signal: stop.signal, poll_ms: 5 })) {
      seen.push(Number.parseInt(event.event_id.slice(4), 16));
      if (seen.length === count) stop.abort();
    }
    return seen;
  })();
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

test('from the start: all that is there, then what comes, across rotation, in order', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 5_000, compress_rotated: true });
  const journal = await trail.open();
  await appendRange(journal, 0, 30);
  const seen = follow(trail, 'start', 100);
  for (let index = 30; index < 100; index += 5) await appendRange(journal, index, index + 5);
  assert.deepEqual(await seen, numbers(0, 100));
});

test('from the end: what comes, also from a writer that was not there', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await appendRange(journal, 0, 10);
  const seen = follow(trail, 'end', 8);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await appendRange(journal, 10, 15);
  const other = await trail.open({ writer: 'worker-2' });
  await appendRange(other, 20, 23);
  assert.deepEqual(
    (await seen).toSorted((a, b) => a - b),
    [10, 11, 12, 13, 14, 20, 21, 22],
  );
});

test('following waits for a journal that does not exist yet, and stopping is no fault', async (t) => {
  const trail = await makeAuditLog(t);
  const stop = new AbortController();
  const iterator = followJournal({ dir: trail.dir, from: 'end', signal: stop.signal, poll_ms: 5 });
  const first = iterator.next();
  const journal = await trail.open();
  await journal.append(sampleEvent(7));
  assert.deepEqual((await first).value?.event, sampleEvent(7));
  setTimeout(() => stop.abort(), 20);
  assert.equal((await iterator.next()).done, true);
});
