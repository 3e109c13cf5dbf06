import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends ManagedRevisionTables {}
}

/** Counts the changes over the API, so that each replica notices those of the others. */
export interface ManagedRevisionTables {
  readonly managed_revisions: {
    /** `policy` or `api_keys`. */
    subject: string;
    revision: number;
  };
}

export const managedRevisionMigrations: Readonly<Record<string, Migration>> = {
  '0200_managed_revisions': {
    async up({ schema }) {
      await schema
        .createTable('managed_revisions')
        .addColumn('subject', 'text', (column) => column.primaryKey().notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
