import type { Migration } from 'kysely/migration';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends SessionTables {}
}

/** The tables of sessions and call counts. Times are milliseconds since 1970, UTC. */
export interface SessionTables {
  readonly sessions: {
    tenant_id: string;
    /** Empty for calls outside any named session. */
    session_id: string;
    agent_id: string;
    /** A JSON list, each tag once. */
    tags: string;
    started_ms: number;
    /** The time of the last use, precise to a tenth of the idle time. */
    seen_ms: number;
  };
  readonly call_counts: {
    tenant_id: string;
    agent_id: string;
    tool_name: string;
    /** The times of the allowed calls of the last minute: a JSON list, ascending. */
    calls: string;
    last_ms: number;
  };
}

export const sessionMigrations: Readonly<Record<string, Migration>> = {
  '0040_sessions': {
    async up({ schema }) {
      await schema
        .createTable('sessions')
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('session_id', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('tags', 'text', (column) => column.notNull())
        .addColumn('started_ms', 'bigint', (column) => column.notNull())
        .addColumn('seen_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('sessions_key', ['tenant_id', 'session_id', 'agent_id'])
        .execute();
      await schema.createIndex('sessions_seen').on('sessions').column('seen_ms').execute();
      await schema.createIndex('sessions_started').on('sessions').column('started_ms').execute();
    },
  },
  '0050_call_counts': {
    async up({ schema }) {
      await schema
        .createTable('call_counts')
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('tool_name', 'text', (column) => column.notNull())
        .addColumn('calls', 'text', (column) => column.notNull())
        .addColumn('last_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('call_counts_key', ['tenant_id', 'agent_id', 'tool_name'])
        .execute();
      await schema.createIndex('call_counts_last').on('call_counts').column('last_ms').execute();
    },
  },
};
