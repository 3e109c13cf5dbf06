import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AuditFailure } from './failure.ts';
import { listSegments, listWriters, type SegmentFile } from './files.ts';
import { openJournal } from './journal.ts';
import { decodeRecord } from './journal-record.ts';
import type { SigningKey } from './keys.ts';
import { readJournalLines } from './lines.ts';

/** The longest time that a file of the journal is kept: this process deletes none. */
const AGE_DAYS_MAX = 36_500;

/**
 * Closes the newest file of each chain that no process has open and that has events, so that it can be shipped. A
 * service with fewer workers than before leaves such chains behind.
 *
 * @param options.idle_ms - the age from which a file is closed, in milliseconds
 */
export async function sealIdleChains(options: {
  readonly dir: string;
  readonly idle_ms: number;
  readonly compress_rotated: boolean;
  readonly max_size_bytes: number;
  readonly signing_key: SigningKey;
  readonly now_ms: () => number;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { dir, idle_ms, now_ms, signal } = options;
  for (const writer of await listWriters(dir)) {
    const newest = (await listSegments(join(dir, writer))).at(-1);
    if (signal.aborted || newest === undefined || newest.gzip) continue;
    if (now_ms() - (await stat(newest.path)).mtimeMs < idle_ms || !(await hasEvents(newest))) continue;
    try {
      const journal = await openJournal({ ...options, writer, max_age_days: AGE_DAYS_MAX, lock_wait_ms: 0 });
      await journal.seal().finally(journal.close);
    } catch (error) {
      // A process that writes the chain closes its files itself.
      if (!(error instanceof AuditFailure && error.code === 'journal_in_use')) throw error;
    }
  }
}

/** Returns whether a file of the journal has an event. Reads up to the first one. */
export async function hasEvents(segment: SegmentFile): Promise<boolean> {
  for await (const { bytes, whole } of readJournalLines(segment)) {
    const record = whole ? decodeRecord(bytes) : null;
    if (record !== null && 'kind' in record && record.kind === 'event') return true;
  }
  return false;
}
