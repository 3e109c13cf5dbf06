import type { Migration } from 'kysely/migration';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends SessionTables {}
}

/** The tables of sessions and of counted calls. Times are milliseconds since 1970, UTC. */
export interface SessionTables {
  readonly sessions: {
    tenant_id: string;
    /** Empty for what an agent does outside of any session that has a name. */
    session_id: string;
    agent_id: string;
    /** A JSON list, each tag once. */
    tags: string;
    started_ms: number;
    /** When it was last asked about, give or take a tenth of the idle time. */
    seen_ms: number;
  };
  readonly call_counts: {
    tenant_id: string;
    agent_id: string;
    tool_name: string;
    /** When the calls of the last minute were let through: a JSON list, ascending. */
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
