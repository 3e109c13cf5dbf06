import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { CountsTable, EventRow, IndexRows, IndexTables } from './index-tables.ts';

/** Answers queries about the audit log. It is filled from the journal, and can be filled again. */
export interface AuditIndex {
  /** The state folder whose journal this process indexes; empty in an index of one state folder. */
  readonly node: string;
  readonly db: Kysely<IndexTables>;
  readonly dialect: IndexDialect;
  /** The index was damaged and was replaced by an empty one, which the indexer fills from the journal. */
  readonly rebuilt: boolean;
  readonly close: () => Promise<void>;
}

/** The address of an index: a file, or a database that several state folders share. */
export type IndexAddress =
  | { readonly path: string }
  | {
      readonly url: string;
      /** Names this state folder. Every other state folder has another name. */
      readonly node: string;
      /** The days of which events are kept. Each of them has tables for itself. */
      readonly kept_days: number;
    };

/** The statements that differ between databases. */
export interface IndexDialect {
  readonly name: 'sqlite' | 'postgres';
  /**
   * The position of an event in the stream, a column of `audit_events`. A reader at a position finds every event that is
   * committed later at a higher one.
   */
  readonly position: RawBuilder<number>;
  /** The condition of the database index of incidents. */
  readonly isIncident: RawBuilder<boolean>;
  /** Returns the last position; 0 if there is none. */
  readonly readLastPosition: (db: Kysely<IndexTables>) => Promise<number>;
  readonly openWriter: (index: Pick<AuditIndex, 'db' | 'node'>) => IndexWriter;
  /** Makes sure that deleted rows are in no file of the index. */
  readonly purgeDeleted: (db: Kysely<IndexTables>) => Promise<void>;
}

/** Inserts rows for one indexer. Rows that exist stay as they are. */
export interface IndexWriter {
  /** Prepares the database for events, before the transaction that inserts them. */
  readonly prepare: (rows: readonly EventRow[]) => Promise<void>;
  /** Begins a transaction that changes the index. The writers of other state folders wait until it ends. */
  readonly begin: (transaction: Transaction<IndexTables>) => Promise<void>;
  /** Inserts events after `after`, the last position. Returns the IDs of those that are new. */
  readonly insertEvents: (
    transaction: Transaction<IndexTables>,
    rows: readonly EventRow[],
    after: number,
  ) => Promise<ReadonlySet<string>>;
  readonly insertRows: <Table extends 'audit_event_tags' | 'shown_actions'>(
    transaction: Transaction<IndexTables>,
    table: Table,
    rows: readonly IndexRows[Table][],
  ) => Promise<void>;
  /** Adds counts to those of the same key. */
  readonly addCounts: AddCounts;
  /** Deletes events older than this, and returns their number. */
  readonly prune: (beforeMs: number) => Promise<number>;
}

export type AddCounts = <Table extends CountsTable>(
  db: Kysely<IndexTables>,
  table: Table,
  rows: readonly IndexRows[Table][],
) => Promise<void>;
