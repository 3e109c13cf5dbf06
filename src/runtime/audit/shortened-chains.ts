import { join } from 'node:path';
import type { AuditIndex } from './audit-index.ts';
import { findTail } from './chain-end.ts';
import { AuditFailure } from './failure.ts';

/** A writer whose files lack records that were indexed. */
export interface ShortenedChain {
  readonly writer: string;
  /** The last record that was indexed. */
  readonly remembered_seq: number;
  /** The last record in the files; `null` if their end is damaged. */
  readonly last_seq: number | null;
}

/**
 * Compares the end of each chain with its indexed position. Call it when the index is up to date. A chain that was
 * shortened and has grown again is found by the lost record in the index.
 */
export async function findShortenedChains(index: AuditIndex, journalDir: string): Promise<ShortenedChain[]> {
  const shortened: ShortenedChain[] = [];
  const rows = await index.db
    .selectFrom('journal_positions')
    .select(['writer', 'seq', 'lost_seq'])
    .where('node', '=', index.node)
    .orderBy('writer')
    .execute();
  for (const { writer, seq, lost_seq } of rows) {
    const lastSeq = await readLastSeq(join(journalDir, writer), writer);
    if (lastSeq === 'unknown') continue;
    const isWhole = lost_seq === null && lastSeq !== null && lastSeq >= seq;
    if (!isWhole) shortened.push({ writer, remembered_seq: lost_seq ?? seq, last_seq: lastSeq });
  }
  return shortened;
}

/** Returns `unknown` if the file cannot be read, for example because its writer has just compressed it. */
async function readLastSeq(writerDir: string, writer: string): Promise<number | null | 'unknown'> {
  try {
    return (await findTail(writerDir, writer)).head.seq;
  } catch (error) {
    return error instanceof AuditFailure ? null : 'unknown';
  }
}
