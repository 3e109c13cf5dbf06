import { bytes, count, integer, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof memoryTables> {}
}

/** The values of agents. Each is encrypted, and can be decrypted only if the other columns are unchanged. */
export const memoryEntries = defineTable(
  'memory_entries',
  {
    /** The handle: `hdl_` and 32 hex digits. A value that is written again gets a new handle. */
    entry_id: text({ key: true }),
    /** A hash of the entry's position. Each slot holds one entry at most. */
    slot: text({ unique: true }),
    /**
     * Hashes of the session or user, and of the agent, for which limits are counted. Names can exceed the length limit
     * of an index.
     */
    owner_slot: text(),
    agent_slot: text(),
    tenant_id: text(),
    agent_id: text(),
    /** The name of the memory document. */
    schema_name: text(),
    scope: text(),
    /** The session or the user; empty if the scope is `global`, and for calls that name none. */
    subject: text(),
    field: text(),
    /** Tags as JSON: those that the writer declared, and all that the value had when it was evaluated. */
    declared_tags: text(),
    data_tags: text(),
    /** The size of the value as JSON. */
    value_bytes: count(),
    created_at_ms: time(),
    expires_at_ms: time(),
    /** The master key that encrypts the value. */
    key_id: text(),
    sealed: bytes(),
  },
  {
    // One index for each query that would otherwise scan the table.
    indexes: {
      memory_entries_by_owner: ['owner_slot', 'field'],
      memory_entries_by_agent: ['agent_slot', 'expires_at_ms', 'value_bytes'],
      memory_entries_by_expiry: ['expires_at_ms'],
      memory_entries_by_key: ['key_id', 'entry_id'],
    },
  },
);

/** The number of agents whose writers can run concurrently at most. */
export const AGENT_LOCKS = 64;

/** Rows that writers update to serialize their counting. The writers of one agent share a row. */
const memoryTurns = defineTable(
  'memory_turns',
  { turn: integer({ key: true }), taken: count() },
  { rows: Array.from({ length: AGENT_LOCKS }, (_, turn) => ({ turn, taken: 0 })) },
);

/** `key_id`: the active master key. `latest_ms`: the latest time of the memory clock. */
const memoryState = defineTable('memory_state', { name: text({ key: true }), value: text() });

const memoryTables = [memoryEntries, memoryState, memoryTurns] as const;

export const memoryMigrations = createTables('memory', memoryTables);
