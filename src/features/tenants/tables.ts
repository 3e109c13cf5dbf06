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
const tenantPolicyVersions = defineTable('tenant_policy_versions', {
  tenant_id: text({ key: true }),
  version: integer({ key: true }),
  /** A JSON list of rules. */
  policies: text(),
  sha256: text(),
  note: text(),
  /** The version that a rollback restored; `null` for an edit. */
  restored_from: nullable(integer()),
  created_by: text(),
  created_ms: time(),
});

const tenantTables = [tenantPolicyVersions, tenants] as const;

export const tenantMigrations = createTables('tenants', tenantTables);
