import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends AllowlistTables {}
}

/** Allowlist entries that operators added over the API. Times are milliseconds since 1970, UTC. */
export interface AllowlistTables {
  readonly allowlist_entries: {
    fingerprint: string;
    /** Empty for all tenants. */
    tenant_id: string;
    reason: string;
    created_by: string;
    created_ms: number;
    expires_ms: number;
  };
  /** Allowlisted detectors. An empty tool, agent or tenant is any. */
  readonly allowed_detectors: {
    id: string;
    rule_id: string;
    tool: string;
    agent_id: string;
    tenant_id: string;
    reason: string;
    created_by: string;
    created_ms: number;
    expires_ms: number;
  };
}

export const allowlistMigrations: Readonly<Record<string, Migration>> = {
  '0240_allowlist': {
    async up({ schema }) {
      await schema
        .createTable('allowlist_entries')
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .addColumn('expires_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('allowlist_entries_key', ['fingerprint', 'tenant_id'])
        .execute();
    },
  },
  '0241_allowed_detectors': {
    async up({ schema }) {
      await schema
        .createTable('allowed_detectors')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('rule_id', 'text', (column) => column.notNull())
        .addColumn('tool', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .addColumn('expires_ms', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
