import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends PolicyVersionTables {}
}

/** The versions of the policy document that operators edit over the API. Times are milliseconds since 1970, UTC. */
export interface PolicyVersionTables {
  /** A version is never changed. The one with the highest number is current. */
  readonly policy_versions: {
    version: number;
    name: string;
    /** YAML, as it was typed. */
    text: string;
    sha256: string;
    note: string;
    /** The version that a rollback restored; `null` for an edit. */
    restored_from: number | null;
    created_by: string;
    created_ms: number;
  };
}

export const policyVersionMigrations: Readonly<Record<string, Migration>> = {
  '0220_policy_versions': {
    async up({ schema }) {
      await schema
        .createTable('policy_versions')
        .addColumn('version', 'integer', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('sha256', 'text', (column) => column.notNull())
        .addColumn('note', 'text', (column) => column.notNull())
        .addColumn('restored_from', 'integer')
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
