import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends ApiKeyTables {}
}

/** API keys that operators created over the API. Times are milliseconds since 1970, UTC. */
export interface ApiKeyTables {
  readonly api_keys: {
    /** `key_` and 24 hex digits. */
    key_id: string;
    /** The name in the audit log. A rotated key and its successor share it. */
    name: string;
    /** The SHA-256 of the whole key, 64 hex digits. The key itself is not stored. */
    sha256: string;
    /** JSON lists; `null` does not restrict. */
    tenants: string | null;
    agents: string | null;
    permissions: string | null;
    created_by: string;
    created_ms: number;
    expires_ms: number | null;
    /** The key that replaces this one; `null` if it was not rotated. */
    replaced_by: string | null;
    revoked_by: string | null;
    revoked_ms: number | null;
  };
}

export const apiKeyMigrations: Readonly<Record<string, Migration>> = {
  '0230_api_keys': {
    async up({ schema }) {
      await schema
        .createTable('api_keys')
        .addColumn('key_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('sha256', 'text', (column) => column.notNull().unique())
        .addColumn('tenants', 'text')
        .addColumn('agents', 'text')
        .addColumn('permissions', 'text')
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .addColumn('expires_ms', 'bigint')
        .addColumn('replaced_by', 'text')
        .addColumn('revoked_by', 'text')
        .addColumn('revoked_ms', 'bigint')
        .execute();
    },
  },
};
