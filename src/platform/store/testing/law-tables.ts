/** Tables for the tests of the store itself. */
import type { Kysely } from 'kysely';
import { bytes, count, flag, integer, nullable, text, textList, time } from '../columns.ts';
import { createTables, defineTable, type Rows } from '../define-table.ts';
import type { Migrations, StoreTables } from '../index.ts';

/** Counters. */
const counts = defineTable('counts', { id: text({ key: true }), amount: count() });

/** A column of every type. */
const values = defineTable('values', {
  id: text({ key: true }),
  amount: nullable(count()),
  bytes: nullable(bytes()),
  note: nullable(text()),
});

/** Rows that must each have one owner. */
const claims = defineTable('claims', { id: count({ key: true }), owner: nullable(integer()) });

/** A table with every option. */
export const entries = defineTable(
  'entries',
  {
    tenant_id: text({ key: true }),
    version: integer({ key: true, shown: 'number' }),
    sha256: text({ unique: true, shown: false }),
    subject: text(),
    issuer: nullable(text()),
    tags: textList(),
    is_active: flag(),
    created_ms: time(),
  },
  {
    indexes: { entries_by_time: ['created_ms', 'version'] },
    unique: { entries_subject: ['issuer', 'subject'] },
    rows: [
      {
        tenant_id: 'default',
        version: 1,
        sha256: 'a',
        subject: 's',
        issuer: null,
        tags: '["x"]',
        is_active: 1,
        created_ms: 1_769_860_800_000,
      },
    ],
  },
);

export type LawTables = Rows<[typeof counts, typeof values, typeof claims, typeof entries]>;

export const migrations: Migrations = {
  ...createTables('counts', [counts]),
  ...createTables('values', [values, claims, entries]),
};

/** Returns the same connection or transaction, typed with these tables. */
export function withLawTables(db: Kysely<StoreTables>): Kysely<StoreTables & LawTables> {
  return db.withTables<LawTables>();
}
