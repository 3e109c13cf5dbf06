/**
 * A process that appends under load until it is killed: `node append-load.ts <state> <round> <waiters>`. Prints the ID
 * of each event once it is acknowledged, and `!<code>` for each rejected event.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditFailure } from '../failure.ts';
import { openJournal } from '../journal.ts';
import { openSigningKey } from '../keys.ts';
import { sampleEvent } from './audit-log.ts';

const [state, round, waiters] = process.argv.slice(2) as [string, string, string];
const nowMs = Date.now;
const journal = await openJournal({
  dir: join(state, 'journal'),
  writer: 'worker-1',
  max_size_bytes: 200_000,
  max_age_days: 90,
  compress_rotated: true,
  signing_key: await openSigningKey({ dir: join(state, 'keys'), now_ms: nowMs }),
  now_ms: nowMs,
});
let next = Number(round) * 1_000_000;
writeSync(1, 'ready\n');

async function appendForever(): Promise<never> {
  for (;;) {
    const event = sampleEvent(next++);
    const answer = await journal.append(event).then(
      () => event.event_id,
      (failure: AuditFailure) => `!${failure.code}`,
    );
    writeSync(1, `${answer}\n`);
    if (answer.startsWith('!')) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

await Promise.all(Array.from({ length: Number(waiters) }, appendForever));
