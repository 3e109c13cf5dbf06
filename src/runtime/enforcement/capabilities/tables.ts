import type { Migration } from 'kysely/migration';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends CapabilityTables {}
}

/** The table of capability tokens. Times are milliseconds since 1970, UTC; lists are JSON. */
export interface CapabilityTables {
  readonly capability_tokens: {
    token_id: string;
    /** SHA-256 of the whole token, in hex. The token itself is never stored. */
    token_sha256: string;
    tenant_id: string;
    agent_id: string;
    /** `null`: valid in any session. */
    session_id: string | null;
    tool_name: string;
    actions: string;
    secret_keys: string;
    issued_by: string;
    issued_ms: number;
    expires_ms: number;
    revoked_by: string | null;
    revoked_ms: number | null;
    uses: number;
    last_used_ms: number | null;
  };
}

export const capabilityMigrations: Readonly<Record<string, Migration>> = {
  '0020_capability_tokens': {
    async up({ schema }) {
      await schema
        .createTable('capability_tokens')
        .addColumn('token_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('token_sha256', 'text', (column) => column.notNull())
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('session_id', 'text')
        .addColumn('tool_name', 'text', (column) => column.notNull())
        .addColumn('actions', 'text', (column) => column.notNull())
        .addColumn('secret_keys', 'text', (column) => column.notNull())
        .addColumn('issued_by', 'text', (column) => column.notNull())
        .addColumn('issued_ms', 'bigint', (column) => column.notNull())
        .addColumn('expires_ms', 'bigint', (column) => column.notNull())
        .addColumn('revoked_by', 'text')
        .addColumn('revoked_ms', 'bigint')
        .addColumn('uses', 'bigint', (column) => column.notNull())
        .addColumn('last_used_ms', 'bigint')
        .execute();
      await schema
        .createIndex('capability_tokens_newest')
        .on('capability_tokens')
        .columns(['issued_ms', 'token_id'])
        .execute();
      await schema
        .createIndex('capability_tokens_expired')
        .on('capability_tokens')
        .columns(['expires_ms'])
        .execute();
    },
  },
};
