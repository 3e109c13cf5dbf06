import type { Migration } from 'kysely/migration';
import { BYTES_COLUMN } from '../../platform/store/columns.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends MemoryTables {}
}

/** What agents remember. Every value is encrypted, and opens only beside the other columns as they are. */
export interface MemoryTables {
  readonly memory_entries: {
    /** `hdl_` and 32 hex digits: the handle. A value that is written anew gets a new one. */
    entry_id: string;
    /** A hash of all that says where the entry belongs: one entry for each. */
    slot: string;
    /** Hashes of whom limits are counted for: the session or user, and the agent. Names can be too long for an index. */
    owner_slot: string;
    agent_slot: string;
    tenant_id: string;
    agent_id: string;
    /** The memory document's name. */
    schema_name: string;
    scope: string;
    /** The session or the user; empty where the scope is `global`, and for calls that name none. */
    subject: string;
    field: string;
    /** Tags as JSON: those that the writer declared, and all that the value had when it was judged. */
    declared_tags: string;
    data_tags: string;
    /** Of the value as JSON. */
    value_bytes: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** The master key under which it is encrypted. */
    key_id: string;
    sealed: Uint8Array;
  };
  /** Rows that a writer changes so that no other counts at the same time: one agent's writers share one. */
  readonly memory_turns: { turn: number; taken: number };
  /** `key_id`: the master key in force. `latest_ms`: how far the clock has come. */
  readonly memory_state: { name: string; value: string };
}

/** How many agents may be written to at once, at most. */
export const AGENT_LOCKS = 64;

export const memoryMigrations: Record<string, Migration> = {
  '0030_memory': {
    async up(db) {
      await db.schema
        .createTable('memory_entries')
        .addColumn('entry_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('slot', 'text', (column) => column.notNull().unique())
        .addColumn('owner_slot', 'text', (column) => column.notNull())
        .addColumn('agent_slot', 'text', (column) => column.notNull())
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('schema_name', 'text', (column) => column.notNull())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('field', 'text', (column) => column.notNull())
        .addColumn('declared_tags', 'text', (column) => column.notNull())
        .addColumn('data_tags', 'text', (column) => column.notNull())
        .addColumn('value_bytes', 'bigint', (column) => column.notNull())
        .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('sealed', BYTES_COLUMN, (column) => column.notNull())
        .execute();
      for (const [name, columns] of Object.entries(INDEXES)) {
        await db.schema.createIndex(name).on('memory_entries').columns(columns).execute();
      }
      await db.schema
        .createTable('memory_turns')
        .addColumn('turn', 'integer', (column) => column.primaryKey().notNull())
        .addColumn('taken', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('memory_state')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .execute();
      const turns = Array.from({ length: AGENT_LOCKS }, (_, turn) => ({ turn, taken: 0 }));
      await db.insertInto('memory_turns').values(turns).execute();
    },
  },
};

/** One for each question that would else read everything. */
const INDEXES = {
  memory_entries_by_owner: ['owner_slot', 'field'],
  memory_entries_by_agent: ['agent_slot', 'expires_at_ms', 'value_bytes'],
  memory_entries_by_expiry: ['expires_at_ms'],
  memory_entries_by_key: ['key_id', 'entry_id'],
};
