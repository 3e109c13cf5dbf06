import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends ToolPinTables {}
}

/** The stored tools of MCP servers. Times are milliseconds since 1970, UTC; definitions are canonical JSON. */
export interface ToolPinTables {
  readonly mcp_pins: {
    tenant_id: string;
    server: string;
    /** The user of the list if a server shows users different lists; empty if all users share it. */
    user_id: string;
    tool: string;
    /** The definition that agents see; `null` if none was pinned yet. */
    pinned_sha256: string | null;
    pinned_definition: string | null;
    /** The definition that waits for approval; `null` if there is none. */
    quarantined_sha256: string | null;
    quarantined_definition: string | null;
    quarantined_reason: string | null;
    /** The operator who approved the pinned definition; `null` if it was pinned when first listed. */
    approved_by: string | null;
    /** The definition that an operator rejected; it stays hidden from agents and no longer waits. */
    rejected_sha256: string | null;
    rejected_by: string | null;
    first_seen_ms: number;
    changed_ms: number;
  };
  readonly mcp_tool_list_snapshots: {
    /** A hash of the list, of its audience and of the policy that evaluated it. */
    snapshot_hash: string;
    event_id: string;
    seen_ms: number;
  };
}

export const toolPinMigrations: Readonly<Record<string, Migration>> = {
  '0070_mcp_pins': {
    async up({ schema }) {
      await schema
        .createTable('mcp_pins')
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('server', 'text', (column) => column.notNull())
        .addColumn('user_id', 'text', (column) => column.notNull())
        .addColumn('tool', 'text', (column) => column.notNull())
        .addColumn('pinned_sha256', 'text')
        .addColumn('pinned_definition', 'text')
        .addColumn('quarantined_sha256', 'text')
        .addColumn('quarantined_definition', 'text')
        .addColumn('quarantined_reason', 'text')
        .addColumn('approved_by', 'text')
        .addColumn('first_seen_ms', 'bigint', (column) => column.notNull())
        .addColumn('changed_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('mcp_pins_key', ['tenant_id', 'server', 'user_id', 'tool'])
        .execute();
    },
  },
  '0250_mcp_pin_rejections': {
    async up({ schema }) {
      await schema.alterTable('mcp_pins').addColumn('rejected_sha256', 'text').execute();
      await schema.alterTable('mcp_pins').addColumn('rejected_by', 'text').execute();
    },
  },
  '0080_mcp_tool_list_snapshots': {
    async up({ schema }) {
      await schema
        .createTable('mcp_tool_list_snapshots')
        .addColumn('snapshot_hash', 'text', (column) => column.primaryKey())
        .addColumn('event_id', 'text', (column) => column.notNull())
        .addColumn('seen_ms', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
