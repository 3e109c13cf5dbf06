import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { sqlite } from '../../drivers/stores/sqlite.ts';
import type { AuditIndex, IndexDialect } from './audit-index.ts';
import { recountEvents } from './event-tallies.ts';
import { AuditFailure } from './failure.ts';
import type { IndexTables } from './index-tables.ts';
import { openSqliteCounts, openSqliteWriter, readLastRowid } from './sqlite-writer.ts';

/**
 * The comparison with 1 keeps SQLite from choosing the index of actions, whose rows it would have to sort.
 */
const isIncident = sql<boolean>`(action in ('redact', 'require_approval', 'block')) = 1`;

const dialect: IndexDialect = {
  name: 'sqlite',
  // A file has one writer, so that positions are in the order of commits.
  position: sql<number>`audit_events.rowid`,
  isIncident,
  readLastPosition: readLastRowid,
  openWriter: openSqliteWriter,
  purgeDeleted: emptyWriteAheadLog,
};

/** Opens a file. The writer migrates its tables, and replaces the file if it is damaged. */
export async function openSqliteIndex(path: string, readOnly: boolean): Promise<AuditIndex> {
  try {
    return await openFile(path, readOnly, false);
  } catch (error) {
    if (readOnly || !isDamaged(error)) throw error;
    for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
    return openFile(path, readOnly, true);
  }
}

async function openFile(path: string, readOnly: boolean, rebuilt: boolean): Promise<AuditIndex> {
  const db = await sqlite.open<IndexTables>({ path, read_only: readOnly });
  try {
    // Erased text must not stay in free pages.
    if (!readOnly) await sql`PRAGMA secure_delete = ON`.execute(db);
    if (readOnly) await checkTables(db);
    else await migrateIndex(db);
    return { node: '', db, dialect, rebuilt, close: () => db.destroy() };
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

async function migrateIndex(db: Kysely<IndexTables>): Promise<void> {
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
  '0004_counts': {
    async up(db) {
      await createCounts(db);
      await createSessions(db);
    },
  },
  /** For the events of one rule, and for incidents: events that were blocked, changed or held for approval. */
  '0005_rules_and_incidents': {
    async up(db) {
      await db.schema
        .createIndex('audit_events_by_rule')
        .on('audit_events')
        .columns(['policy_name', 'timestamp_ms', 'seq'])
        .where('policy_name', '!=', 'default.allow')
        .execute();
      await db.schema
        .createIndex('audit_incidents_by_time')
        .on('audit_events')
        .columns(['timestamp_ms', 'seq', 'event_id', 'tenant_id'])
        .where(isIncident)
        .execute();
    },
  },
  /** For compliance reports: the policies under which events were decided, and counts by tag with its ancestors. */
  '0006_policies': {
    async up(db) {
      await createPolicies(db);
      await recountEvents(db, null, openSqliteCounts());
    },
  },
  /** Counts by hook. */
  '0007_hooks': {
    async up(db) {
      await recountEvents(db, null, openSqliteCounts());
    },
  },
  '0008_shown_actions': {
    async up(db) {
      await db.schema
        .createTable('shown_actions')
        .addColumn('event_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('action_shown', 'text', (column) => column.notNull())
        .addColumn('action_marks', 'text', (column) => column.notNull())
        .execute();
    },
  },
  /** A file has the events of one state folder, so that the column is empty in every row. */
  '0009_nodes': {
    async up(db) {
      for (const table of NODE_TABLES)
        await db.schema
          .alterTable(table)
          .addColumn('node', 'text', (column) => column.notNull().defaultTo(''))
          .execute();
    },
  },
};

const NODE_TABLES = ['audit_events', 'audit_counts', 'audit_sessions', 'audit_policies', 'journal_positions'];

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

async function createCounts(db: Kysely<IndexTables>): Promise<void> {
  await db.schema
    .createTable('audit_counts')
    .addColumn('width_ms', 'bigint', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('bucket_ms', 'bigint', (column) => column.notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('decision', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('event_count', 'bigint', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('audit_counts_key', [
      'width_ms',
      'field',
      'bucket_ms',
      'tenant_id',
      'agent_id',
      'value',
      'decision',
      'action',
    ])
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function createPolicies(db: Kysely<IndexTables>): Promise<void> {
  await db.schema
    .createTable('audit_policies')
    .addColumn('bucket_ms', 'bigint', (column) => column.notNull())
    .addColumn('policy_hash', 'text', (column) => column.notNull())
    .addColumn('event_count', 'bigint', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('audit_policies_key', ['bucket_ms', 'policy_hash'])
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function createSessions(db: Kysely<IndexTables>): Promise<void> {
  await db.schema
    .createTable('audit_sessions')
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('event_count', 'bigint', (column) => column.notNull())
    .addColumn('block_count', 'bigint', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('audit_sessions_key', ['tenant_id', 'session_id', 'agent_id'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema.createIndex('audit_sessions_by_time').on('audit_sessions').columns(['last_ms']).execute();
  await db.schema
    .createIndex('audit_sessions_by_tenant')
    .on('audit_sessions')
    .columns(['tenant_id', 'last_ms'])
    .execute();
}

const CHECKPOINT_TRIES = 50;
const CHECKPOINT_MS = 100;

/** Moves all changes from the write-ahead log to the file, and empties the log. */
async function emptyWriteAheadLog(db: Kysely<IndexTables>): Promise<void> {
  // A reader may keep the log for a moment.
  for (let tries = 0; tries < CHECKPOINT_TRIES; tries++) {
    const { rows } = await sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
    if (rows[0]?.busy === 0) return;
    await sleep(CHECKPOINT_MS);
  }
  throw new AuditFailure(
    'index_busy',
    'The audit index is in use, so its write-ahead log still has erased actions. Run the command again.',
  );
}
