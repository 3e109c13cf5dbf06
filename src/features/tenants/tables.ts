import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends TenantTables {}
}

/** Tenants and the versions of their policy sets. Times are milliseconds since 1970, UTC. */
export interface TenantTables {
  readonly tenants: {
    tenant_id: string;
    /** The name for people. */
    name: string;
    created_by: string;
    created_ms: number;
  };
  /** A version is never changed. The one with the highest number is current. */
  readonly tenant_policy_versions: {
    tenant_id: string;
    version: number;
    /** A JSON list of rules. */
    policies: string;
    sha256: string;
    note: string;
    /** The version that a rollback restored; `null` for an edit. */
    restored_from: number | null;
    created_by: string;
    created_ms: number;
  };
}

export const tenantMigrations: Readonly<Record<string, Migration>> = {
  '0210_tenants': {
    async up({ schema }) {
      await schema
        .createTable('tenants')
        .addColumn('tenant_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .execute();
      await schema
        .createTable('tenant_policy_versions')
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('policies', 'text', (column) => column.notNull())
        .addColumn('sha256', 'text', (column) => column.notNull())
        .addColumn('note', 'text', (column) => column.notNull())
        .addColumn('restored_from', 'integer')
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('tenant_policy_versions_key', ['tenant_id', 'version'])
        .execute();
    },
  },
};
