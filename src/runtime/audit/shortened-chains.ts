import { join } from 'node:path';
import type { AuditIndex } from './audit-index.ts';
import { AuditFailure } from './failure.ts';
import { findTail } from './tail.ts';

/** A writer whose files lack records that the index has read. */
export interface ShortenedChain {
  readonly writer: string;
  /** The last record that the index remembers. */
  readonly remembered_seq: number;
  /** The last record in the files; `null` when their end cannot be read. */
  readonly last_seq: number | null;
}

/**
 * Compares the end of each chain with what the index remembers of it. Call it when the index is up to date: a
 * chain that was shortened and has grown again since is known by the record that the index has lost.
 */
export async function findShortenedChains(index: AuditIndex, journal_dir: string): Promise<ShortenedChain[]> {
  const shortened: ShortenedChain[] = [];
  const rows = await index.db
    .selectFrom('journal_positions')
    .select(['writer', 'seq', 'lost_seq'])
    .orderBy('writer')
    .execute();
  for (const { writer, seq, lost_seq } of rows) {
    const last_seq = await readLastSeq(join(journal_dir, writer), writer);
    if (last_seq === 'unknown') continue;
    const is_whole = lost_seq === null && last_seq !== null && last_seq >= seq;
    if (!is_whole) shortened.push({ writer, remembered_seq: lost_seq ?? seq, last_seq });
  }
  return shortened;
}

/** Returns `unknown` when the file cannot be read, as when its writer has just compressed it. */
async function readLastSeq(writer_dir: string, writer: string): Promise<number | null | 'unknown'> {
  try {
    return (await findTail(writer_dir, writer)).head.seq;
  } catch (error) {
    return error instanceof AuditFailure ? null : 'unknown';
  }
}
