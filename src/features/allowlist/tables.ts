import { emptyAsNull, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof allowlistTables> {}
}

/** Allowlisted values that operators added over the API. */
export const allowlistEntries = defineTable('allowlist_entries', {
  fingerprint: text({ key: true }),
  tenant_id: emptyAsNull(text({ key: true, description: '`null` for all tenants.' })),
  reason: text(),
  created_by: text(),
  created_ms: time(),
  expires_ms: time(),
});

/** Allowlisted detectors. */
export const allowedDetectors = defineTable('allowed_detectors', {
  id: text({ key: true }),
  rule_id: text(),
  tool: emptyAsNull(text({ shown: 'tool_name', description: '`null` for any tool.' })),
  agent_id: emptyAsNull(text({ description: '`null` for any agent.' })),
  tenant_id: emptyAsNull(text({ description: '`null` for all tenants.' })),
  reason: text(),
  created_by: text(),
  created_ms: time(),
  expires_ms: time(),
});

const allowlistTables = [allowedDetectors, allowlistEntries] as const;

export const allowlistMigrations = createTables('allowlist', allowlistTables);
