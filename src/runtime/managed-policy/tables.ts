import { count, text } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof managedRevisions]> {}
}

/** Counts the changes over the API, so that each replica notices those of the others. */
const managedRevisions = defineTable('managed_revisions', {
  /** `policy`, `api_keys` or `agent_blocks`. */
  subject: text({ key: true }),
  revision: count(),
});

export const managedRevisionMigrations = createTables('managed_policy', [managedRevisions]);
