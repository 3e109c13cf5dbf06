/** Tables for the tests of the store itself. */
import type { Kysely } from 'kysely';
import { BYTES_COLUMN, type Migrations, type StoreTables } from '../index.ts';

export type LawTables = {
  /** Counters. */
  readonly counts: { id: string; amount: number };
  /** A column of every type. */
  readonly values: { id: string; amount: number | null; bytes: Uint8Array | null; note: string | null };
  /** Rows that must each have one owner. */
  readonly claims: { id: number; owner: number | null };
};

export const migrations: Migrations = {
  '0001_counts': {
    up: async (db) => {
      await db.schema
        .createTable('counts')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('amount', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  '0002_values': {
    up: async (db) => {
      await db.schema
        .createTable('values')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('amount', 'bigint')
        .addColumn('bytes', BYTES_COLUMN)
        .addColumn('note', 'text')
        .execute();
      await db.schema
        .createTable('claims')
        .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('owner', 'integer')
        .execute();
    },
  },
};

/** Returns the same connection or transaction, typed with these tables. */
export function withLawTables(db: Kysely<StoreTables>): Kysely<StoreTables & LawTables> {
  return db.withTables<LawTables>();
}
