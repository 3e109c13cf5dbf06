import { rm } from 'node:fs/promises';
import type { Insertable, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { sqlite } from '../../drivers/stores/sqlite.ts';
import { AuditFailure } from './failure.ts';

/** The tables that answer queries. All of them can be rebuilt from the journal. */
export interface IndexTables {
  readonly audit_events: {
    event_id: string;
    timestamp_ms: number;
    writer: string;
    /** The event's number in its writer's chain; orders events with the same timestamp. */
    seq: number;
    boundary: string;
    decision: string;
    action: string;
    policy_name: string;
    agent_id: string;
    tool_name: string | null;
    session_id: string | null;
    source_agent_id: string | null;
    destination_agent_id: string | null;
    tenant_id: string;
    caller_id: string;
    phase: string | null;
    /** The whole event as JSON. */
    event: string;
  };
  /** Each tag of an event, and each ancestor of the tag: `personal.pii` also as `personal`. */
  readonly audit_event_tags: { tag: string; timestamp_ms: number; seq: number; event_id: string };
  /** The position up to which each writer's chain was read. */
  readonly journal_positions: {
    writer: string;
    segment: number;
    byte_offset: number;
    seq: number;
    record_hash: string | null;
    /**
     * A line that was read once and is missing now, without a cut that explains it. `verifyJournal` gets it as a known
     * head.
     */
    lost_seq: number | null;
    lost_hash: string | null;
    /** The last event of a chain that was indexed again after its order among other writers' events was lost. */
    unordered_seq: number | null;
  };
}

export type EventRow = Insertable<IndexTables['audit_events']>;

export interface AuditIndex {
  readonly db: Kysely<IndexTables>;
  /** The file was damaged and was replaced by an empty one, which the indexer fills from the journal. */
  readonly rebuilt: boolean;
  readonly close: () => Promise<void>;
}

/**
 * Opens the index. The writer migrates its tables, and replaces the file if it is damaged. Readers open it as it is.
 *
 * @throws AuditFailure `index_newer` if a later version of the program made the file
 */
export async function openIndex(options: { path: string; read_only?: boolean }): Promise<AuditIndex> {
  const read_only = options.read_only ?? false;
  try {
    return await openFile(options.path, read_only, false);
  } catch (error) {
    if (read_only || !isDamaged(error)) throw error;
    for (const suffix of ['', '-wal', '-shm']) await rm(`${options.path}${suffix}`, { force: true });
    return openFile(options.path, read_only, true);
  }
}

async function openFile(path: string, read_only: boolean, rebuilt: boolean): Promise<AuditIndex> {
  const db = await sqlite.open<IndexTables>({ path, read_only });
  try {
    if (read_only) await checkTables(db);
    else await migrate(db);
    return { db, rebuilt, close: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

function isDamaged(error: unknown): boolean {
  const SQLITE_CORRUPT = 11;
  const SQLITE_NOTADB = 26;
  const code = ((error as { errcode?: number } | null)?.errcode ?? 0) % 256;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

async function migrate(db: Kysely<IndexTables>): Promise<void> {
  const { Migrator } = await import('kysely/migration');
  await refuseNewer(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function checkTables(db: Kysely<IndexTables>): Promise<void> {
  await refuseNewer(db);
  await db.selectFrom('journal_positions').select('writer').limit(1).execute();
}

async function refuseNewer(db: Kysely<IndexTables>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return;
  const migrations = db.withTables<{ kysely_migration: { name: string } }>().selectFrom('kysely_migration');
  const applied = await migrations.select('name').execute();
  if (applied.every(({ name }) => name in MIGRATIONS)) return;
  throw new AuditFailure(
    'index_newer',
    'The audit index was made by a later version of this program. Use that version, or delete `index.db` in the state folder: it is made again from the journal.',
  );
}

const MIGRATIONS: Record<string, Migration> = {
  '0001_events': {
    async up(db) {
      await db.schema
        .createTable('audit_events')
        .addColumn('event_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('timestamp_ms', 'bigint', (column) => column.notNull())
        .addColumn('writer', 'text', (column) => column.notNull())
        .addColumn('seq', 'bigint', (column) => column.notNull())
        .addColumn('boundary', 'text', (column) => column.notNull())
        .addColumn('decision', 'text', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('policy_name', 'text', (column) => column.notNull())
        .addColumn('agent_id', 'text', (column) => column.notNull())
        .addColumn('tool_name', 'text')
        .addColumn('session_id', 'text')
        .addColumn('source_agent_id', 'text')
        .addColumn('destination_agent_id', 'text')
        .addColumn('tenant_id', 'text', (column) => column.notNull())
        .addColumn('caller_id', 'text', (column) => column.notNull())
        .addColumn('phase', 'text')
        .addColumn('event', 'text', (column) => column.notNull())
        .execute();
      for (const [name, columns] of Object.entries(INDEXES)) {
        await db.schema.createIndex(name).on('audit_events').columns(columns).execute();
      }
      await db.schema
        .createTable('audit_event_tags')
        .addColumn('tag', 'text', (column) => column.notNull())
        .addColumn('timestamp_ms', 'bigint', (column) => column.notNull())
        .addColumn('seq', 'bigint', (column) => column.notNull())
        .addColumn('event_id', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('audit_event_tags_key', ['tag', 'timestamp_ms', 'seq', 'event_id'])
        .execute();
      await db.schema
        .createTable('journal_positions')
        .addColumn('writer', 'text', (column) => column.primaryKey().notNull())
        .addColumn('segment', 'bigint', (column) => column.notNull())
        .addColumn('byte_offset', 'bigint', (column) => column.notNull())
        .addColumn('seq', 'bigint', (column) => column.notNull())
        .addColumn('record_hash', 'text')
        .addColumn('lost_seq', 'bigint')
        .addColumn('lost_hash', 'text')
        .execute();
    },
  },
  /**
   * Drops the index of decisions, which no query uses, and excludes events without a session or tool from two others.
   */
  '0002_fewer_index_entries': {
    async up(db) {
      await db.schema.dropIndex('audit_events_by_decision').execute();
      for (const [name, column] of [
        ['audit_events_by_session', 'session_id'],
        ['audit_events_by_tool', 'tool_name'],
      ] as const) {
        await db.schema.dropIndex(name).execute();
        await db.schema
          .createIndex(name)
          .on('audit_events')
          .columns([column, 'timestamp_ms', 'seq'])
          .where(column, 'is not', null)
          .execute();
      }
    },
  },
  '0003_unordered': {
    async up(db) {
      await db.schema.alterTable('journal_positions').addColumn('unordered_seq', 'bigint').execute();
    },
  },
};

/** One index for each query that would otherwise scan the table, sorted in the order of the result. */
const INDEXES = {
  audit_events_by_time: ['timestamp_ms', 'seq'],
  audit_events_by_agent: ['agent_id', 'timestamp_ms', 'seq'],
  audit_events_by_session: ['session_id', 'timestamp_ms', 'seq'],
  audit_events_by_decision: ['decision', 'timestamp_ms', 'seq'],
  audit_events_by_action: ['action', 'timestamp_ms', 'seq'],
  audit_events_by_tenant: ['tenant_id', 'timestamp_ms', 'seq'],
  audit_events_by_tool: ['tool_name', 'timestamp_ms', 'seq'],
};
