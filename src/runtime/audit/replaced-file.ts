import type { Transaction } from 'kysely';
import type { AddCounts } from './audit-index.ts';
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

/** A chain of the journal, and how events of its time are counted. */
export interface IndexedChain {
  readonly node: string;
  readonly writer: string;
  readonly add_counts: AddCounts;
}

/** Remembers the lost end of a chain until a cut record explains it. Keeps the first loss only. */
export async function markLost(
  transaction: Transaction<IndexTables>,
  { node, writer }: IndexedChain,
): Promise<void> {
  await transaction
    .updateTable('journal_positions')
    .set((eb) => ({ lost_seq: eb.ref('seq'), lost_hash: eb.ref('record_hash') }))
    .where('node', '=', node)
    .where('writer', '=', writer)
    .where('lost_seq', 'is', null)
    .execute();
}

/** Finds where the file differs from the index, and deletes the indexed events after that place. */
export async function compareWithIndex(
  transaction: Transaction<IndexTables>,
  chain: IndexedChain,
  block: ChainBlock,
  rows: readonly EventRow[],
  replaced: ReplacedFile,
): Promise<void> {
  const { node, writer } = chain;
  const ids = rows.map(({ event_id }) => event_id);
  const known = transaction
    .selectFrom('audit_events')
    .select(['event_id', 'seq'])
    .where('node', '=', node)
    .where('writer', '=', writer);
  const seqs = new Map(
    (await known.where('event_id', 'in', ids).execute()).map((row) => [row.event_id, row.seq]),
  );
  const matched = rows.filter((row) => seqs.get(row.event_id) === row.seq);
  replaced.matched_seq = Math.max(replaced.matched_seq, ...matched.map(({ seq }) => seq));
  const cut = block.records.find(({ record }) => record.kind === 'cut' && record.seq > replaced.matched_seq);
  if (cut !== undefined) await explainLoss(transaction, chain, cut.record.seq);
  if (matched.length < rows.length || cut !== undefined) await deleteReplaced(transaction, chain, replaced);
}

/** Clears the loss if a cut at or before the lost line explains it. */
async function explainLoss(
  transaction: Transaction<IndexTables>,
  { node, writer }: IndexedChain,
  cutSeq: number,
): Promise<void> {
  await transaction
    .updateTable('journal_positions')
    .set({ lost_seq: null, lost_hash: null })
    .where('node', '=', node)
    .where('writer', '=', writer)
    .where('lost_seq', '>=', cutSeq)
    .execute();
}

/** Deletes the indexed events of a writer after the last event in common, and counts the events of that time again. */
export async function deleteReplaced(
  transaction: Transaction<IndexTables>,
  { node, writer, add_counts }: IndexedChain,
  replaced: ReplacedFile,
): Promise<void> {
  const gone = transaction
    .selectFrom('audit_events')
    .select('event_id')
    .where('node', '=', node)
    .where('writer', '=', writer)
    .where('seq', '>', replaced.matched_seq);
  const { oldest_ms } = await transaction
    .selectFrom('audit_events')
    .select((eb) => eb.fn.min('timestamp_ms').as('oldest_ms'))
    .where('event_id', 'in', gone)
    .executeTakeFirstOrThrow();
  if (oldest_ms === null) {
    replaced.forgotten = true;
    return;
  }
  await transaction
    .deleteFrom('audit_event_tags')
    .where('event_id', 'in', gone)
    .where('timestamp_ms', '>=', oldest_ms)
    .execute();
  await transaction.deleteFrom('shown_actions').where('event_id', 'in', gone).execute();
  await transaction.deleteFrom('audit_events').where('event_id', 'in', gone).execute();
  await recountEvents(transaction, oldest_ms, add_counts, node);
  replaced.forgotten = true;
}
