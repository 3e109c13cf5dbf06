import type { Migration } from 'kysely/migration';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends AgentBlockTables {}
}

/** The table of blocked agents. Times are milliseconds since 1970, UTC. */
export interface AgentBlockTables {
  readonly blocked_agents: {
    /** `agentKey` of the name: all spellings share one row. */
    agent_key: string;
    /** The name as the operator wrote it. */
    agent_id: string;
    reason: string;
    blocked_by: string;
    blocked_ms: number;
  };
}

export const agentBlockMigrations: Readonly<Record<string, Migration>> = {
  '0090_blocked_agents': {
    async up({ schema }) {
      await schema
        .createTable('blocked_agents')
        .addColumn('agent_key', 'text', (column) => column.primaryKey().notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('blocked_by', 'text', (column) => column.notNull())
        .addColumn('blocked_ms', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
