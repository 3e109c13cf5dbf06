import type { Migration } from 'kysely/migration';
import { BYTES_COLUMN } from '../../platform/store/columns.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends MemoryTables {}
}

/**
 * The tables of agent memory. Every value is encrypted, and can be decrypted only if the other columns are unchanged.
 */
export interface MemoryTables {
  readonly memory_entries: {
    /** The handle: `hdl_` and 32 hex digits. A value that is written again gets a new handle. */
    entry_id: string;
    /** A hash of the entry's position. Each slot holds one entry at most. */
    slot: string;
    /**
     * Hashes of the session or user, and of the agent, for which limits are counted. Names can exceed the length limit
     * of an index.
     */
    owner_slot: string;
    agent_slot: string;
    tenant_id: string;
    agent_id: string;
    /** The name of the memory document. */
    schema_name: string;
    scope: string;
    /** The session or the user; empty if the scope is `global`, and for calls that name none. */
    subject: string;
    field: string;
    /** Tags as JSON: those that the writer declared, and all that the value had when it was evaluated. */
    declared_tags: string;
    data_tags: string;
    /** The size of the value as JSON. */
    value_bytes: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** The master key that encrypts the value. */
    key_id: string;
    sealed: Uint8Array;
  };
  /** Rows that writers update to serialize their counting. The writers of one agent share a row. */
  readonly memory_turns: { turn: number; taken: number };
  /** `key_id`: the active master key. `latest_ms`: the latest time of the memory clock. */
  readonly memory_state: { name: string; value: string };
}

/** The number of agents whose writers can run concurrently at most. */
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

/** One index for each query that would otherwise scan the table. */
const INDEXES = {
  memory_entries_by_owner: ['owner_slot', 'field'],
  memory_entries_by_agent: ['agent_slot', 'expires_at_ms', 'value_bytes'],
  memory_entries_by_expiry: ['expires_at_ms'],
  memory_entries_by_key: ['key_id', 'entry_id'],
};
