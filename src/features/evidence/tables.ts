import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends EvidenceTables {}
}

/** Legal holds on the audit log. Times are milliseconds since 1970, UTC. */
export interface EvidenceTables {
  readonly legal_holds: {
    hold_id: string;
    /** `null` matches every name or time. */
    tenant_id: string | null;
    agent_id: string | null;
    session_id: string | null;
    since_ms: number | null;
    /** Exclusive. */
    until_ms: number | null;
    reason: string;
    created_by: string;
    created_ms: number;
  };
}

export const evidenceMigrations: Readonly<Record<string, Migration>> = {
  '0260_legal_holds': {
    async up({ schema }) {
      await schema
        .createTable('legal_holds')
        .addColumn('hold_id', 'text', (column) => column.notNull().primaryKey())
        .addColumn('tenant_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('session_id', 'text')
        .addColumn('since_ms', 'bigint')
        .addColumn('until_ms', 'bigint')
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
