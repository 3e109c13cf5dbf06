import { text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof blockedAgents]> {}
}

/** Blocked agents. */
export const blockedAgents = defineTable('blocked_agents', {
  /** `agentKey` of the name: all spellings share one row. */
  agent_key: text({ key: true, shown: false }),
  /** The name as the operator wrote it. */
  agent_id: text(),
  reason: text(),
  blocked_by: text(),
  blocked_ms: time({ description: 'ISO 8601.' }),
});

export const agentBlockMigrations = createTables('agent_blocks', [blockedAgents]);
