import { integer, nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof tenantTables> {}
}

const tenants = defineTable('tenants', {
  tenant_id: text({ key: true }),
  /** The name for people. */
  name: text(),
  created_by: text(),
  created_ms: time(),
});

/** A version is never changed. The one with the highest number is current. */
export const policySetVersions = defineTable('tenant_policy_versions', {
  tenant_id: text({ key: true, shown: false }),
  version: integer({ key: true }),
  /** A JSON list of rules. */
  policies: text({ shown: false }),
  sha256: text(),
  note: text(),
  restored_from: nullable(integer({ description: 'The version that a rollback restored.' })),
  created_by: text(),
  created_ms: time(),
});

const tenantTables = [policySetVersions, tenants] as const;

export const tenantMigrations = createTables('tenants', tenantTables);
