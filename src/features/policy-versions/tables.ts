import { integer, nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof policyVersions]> {}
}

/** A version is never changed. The one with the highest number is current. */
export const policyVersions = defineTable('policy_versions', {
  version: integer({ key: true }),
  name: text(),
  /** YAML, as it was typed. */
  text: text({ shown: false }),
  sha256: text(),
  note: text(),
  restored_from: nullable(integer({ description: 'The version that a rollback restored.' })),
  created_by: text(),
  created_ms: time(),
});

export const policyVersionMigrations = createTables('policy_versions', [policyVersions]);
