import { text, time } from '../../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../../platform/store/define-table.ts';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof sessionTables> {}
}

/** The taint tags of each agent in a session. */
const sessions = defineTable(
  'sessions',
  {
    tenant_id: text({ key: true }),
    /** Empty for calls outside any named session. */
    session_id: text({ key: true }),
    agent_id: text({ key: true }),
    /** A JSON list, each tag once. */
    tags: text(),
    started_ms: time(),
    /** The time of the last use, precise to a tenth of the idle time. */
    seen_ms: time(),
  },
  { indexes: { sessions_seen: ['seen_ms'], sessions_started: ['started_ms'] } },
);

/** The calls for rate limits. */
const callCounts = defineTable(
  'call_counts',
  {
    tenant_id: text({ key: true }),
    agent_id: text({ key: true }),
    tool_name: text({ key: true }),
    /** The times of the allowed calls of the last minute: a JSON list, ascending. */
    calls: text(),
    last_ms: time(),
  },
  { indexes: { call_counts_last: ['last_ms'] } },
);

const sessionTables = [callCounts, sessions] as const;

export const sessionMigrations = createTables('sessions', sessionTables);
