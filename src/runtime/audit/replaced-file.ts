import type { Transaction } from 'kysely';
import { recountEvents } from './event-tallies.ts';
import type { EventRow, IndexTables } from './index-tables.ts';
import type { ChainBlock } from './reader.ts';

/** A file that is read again because its end differs from the end that was indexed, after a cut or tampering. */
export interface ReplacedFile {
  /** The last event that the index and the file have in common. */
  matched_seq: number;
  /** The index no longer has the events after `matched_seq`. */
  forgotten: boolean;
}

/** Remembers the lost end of a chain until a cut record explains it. Keeps the first loss only. */
export async function markLost(transaction: Transaction<IndexTables>, writer: string): Promise<void> {
  await transaction
    .updateTable('journal_positions')
    .set((eb) => ({ lost_seq: eb.ref('seq'), lost_hash: eb.ref('record_hash') }))
    .where('writer', '=', writer)
    .where('lost_seq', 'is', null)
    .execute();
}

/** Finds where the file differs from the index, and deletes the indexed events after that place. */
export async function compareWithIndex(
  transaction: Transaction<IndexTables>,
  writer: string,
  block: ChainBlock,
  rows: readonly EventRow[],
  replaced: ReplacedFile,
): Promise<void> {
  const ids = rows.map(({ event_id }) => event_id);
  const known = transaction
    .selectFrom('audit_events')
    .select(['event_id', 'seq'])
    .where('writer', '=', writer);
  const seqs = new Map(
    (await known.where('event_id', 'in', ids).execute()).map((row) => [row.event_id, row.seq]),
  );
  const matched = rows.filter((row) => seqs.get(row.event_id) === row.seq);
  replaced.matched_seq = Math.max(replaced.matched_seq, ...matched.map(({ seq }) => seq));
  const cut = block.records.find(({ record }) => record.kind === 'cut' && record.seq > replaced.matched_seq);
  if (cut !== undefined) await explainLoss(transaction, writer, cut.record.seq);
  if (matched.length < rows.length || cut !== undefined) await deleteReplaced(transaction, writer, replaced);
}

/** Clears the loss if a cut at or before the lost line explains it. */
async function explainLoss(
  transaction: Transaction<IndexTables>,
  writer: string,
  cutSeq: number,
): Promise<void> {
  await transaction
    .updateTable('journal_positions')
    .set({ lost_seq: null, lost_hash: null })
    .where('writer', '=', writer)
    .where('lost_seq', '>=', cutSeq)
    .execute();
}

/** Deletes the indexed events of a writer after the last event in common, and counts the events of that time again. */
export async function deleteReplaced(
  transaction: Transaction<IndexTables>,
  writer: string,
  replaced: ReplacedFile,
): Promise<void> {
  const gone = transaction
    .selectFrom('audit_events')
    .select('event_id')
    .where('writer', '=', writer)
    .where('seq', '>', replaced.matched_seq);
  const { oldest_ms } = await transaction
    .selectFrom('audit_events')
    .select((eb) => eb.fn.min('timestamp_ms').as('oldest_ms'))
    .where('event_id', 'in', gone)
    .executeTakeFirstOrThrow();
  await transaction.deleteFrom('audit_event_tags').where('event_id', 'in', gone).execute();
  await transaction.deleteFrom('shown_actions').where('event_id', 'in', gone).execute();
  await transaction.deleteFrom('audit_events').where('event_id', 'in', gone).execute();
  if (oldest_ms !== null) await recountEvents(transaction, oldest_ms);
  replaced.forgotten = true;
}
