import { nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof legalHolds]> {}
}

/** Legal holds on the audit log. */
export const legalHolds = defineTable('legal_holds', {
  hold_id: text({ key: true }),
  tenant_id: nullable(text({ description: '`null` for all tenants.' })),
  agent_id: nullable(text({ description: '`null` for all agents.' })),
  session_id: nullable(text({ description: '`null` for all sessions.' })),
  since_ms: nullable(
    time({ shown: 'since', description: 'The time of the oldest event; `null` for no limit.' }),
  ),
  until_ms: nullable(
    time({ shown: 'until', description: 'The time after the newest event; `null` for no limit.' }),
  ),
  reason: text(),
  created_by: text(),
  created_ms: time(),
});

export const evidenceMigrations = createTables('evidence', [legalHolds]);
