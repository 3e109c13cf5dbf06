import { HandleEmptyInListsPlugin, type Kysely, replaceWithNoncontingentExpression, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { postgres } from '../../drivers/stores/postgres.ts';
import { readStoreSchema } from '../../platform/store/migrate.ts';
import type { AuditIndex, IndexAddress, IndexDialect } from './audit-index.ts';
import { AuditFailure } from './failure.ts';
import type { IndexTables } from './index-tables.ts';
import { openPartitions } from './postgres-partitions.ts';
import { openPostgresWriter } from './postgres-writer.ts';

type SharedAddress = Exclude<IndexAddress, { readonly path: string }>;

/** A page of the console asks a dozen questions at once. More connections did not answer them sooner. */
const CONNECTIONS_MAX = 2;

/**
 * Opens an index in a database that several state folders share. Its tables lie next to those of the store. The writer
 * migrates them.
 */
export async function openPostgresIndex(
  { url, node, kept_days }: SharedAddress,
  readOnly: boolean,
): Promise<AuditIndex> {
  const opened = await postgres.open<IndexTables>({ url, connections_max: CONNECTIONS_MAX });
  // A caller who may read no tenant finds nothing. SQLite takes an empty list as it is.
  const db = opened.withPlugin(
    new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
  );
  try {
    if (!readOnly) await migrate(db);
    await checkTables(db);
    return { node, db, dialect: buildDialect(url, kept_days), rebuilt: false, close: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

const isIncident = sql<boolean>`action in ('redact', 'require_approval', 'block')`;

function buildDialect(url: string, keptDays: number): IndexDialect {
  return {
    name: 'postgres',
    position: sql<number>`audit_events.stream_position`,
    isIncident,
    readLastPosition,
    openWriter: ({ db, node }) => openPostgresWriter(db, node, openPartitions(db, keptDays)),
    purgeDeleted: () => rewriteActions(url),
  };
}

async function readLastPosition(db: Kysely<IndexTables>): Promise<number> {
  const { rows } = await sql<{ readonly position: number }>`select position from audit_stream`.execute(db);
  return rows[0]!.position;
}

/** A rewrite of the table may take as long as a copy of it. */
const REWRITE_MS_MAX = 600_000;

/** Writes the table of shown actions again: deleted rows stay in the file of a table until then. */
async function rewriteActions(url: string): Promise<void> {
  const db = await postgres.open({ url, connections_max: 1, question_ms_max: REWRITE_MS_MAX });
  await sql`vacuum (full) shown_actions`.execute(db).finally(() => db.destroy());
}

const TABLES = [
  'audit_events',
  'audit_event_tags',
  'shown_actions',
  'audit_counts',
  'audit_sessions',
  'audit_policies',
  'journal_positions',
  'audit_stream',
];
const MIGRATION_TABLE = 'audit_index_migrations';

/** Applies the pending migrations, all or none. Services that start together take turns. */
async function migrate(db: Kysely<IndexTables>): Promise<void> {
  const applied = await readApplied(db);
  if (applied === null) await refuseForeign(db);
  const { Migrator } = await import('kysely/migration');
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: 'audit_index_migration_lock',
    migrationTableSchema: await readStoreSchema(db),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Refuses tables of another program, of a later version, and an index that lacks a table. */
async function checkTables(db: Kysely<IndexTables>): Promise<void> {
  if ((await readApplied(db)) === null)
    throw new AuditFailure(
      'index_missing',
      'The database has no audit index yet. Start the service: it creates the index and fills it from the journal.',
    );
  const present = await findPresent(db, TABLES);
  const missing = TABLES.filter((name) => !present.includes(name));
  if (missing.length === 0) return;
  const statement = `drop table if exists ${[...TABLES, MIGRATION_TABLE].join(', ')};`;
  throw new AuditFailure(
    'index_damaged',
    `The audit index in the database lacks the table \`${missing[0]}\`. Run \`${statement}\` there and start each service again: it fills the index from its journal.`,
  );
}

/** Returns the names of the applied migrations; `null` if there are none. */
async function readApplied(db: Kysely<IndexTables>): Promise<readonly string[] | null> {
  const [found] = await findPresent(db, [MIGRATION_TABLE]);
  if (found === undefined) return null;
  const { rows } = await sql<{
    readonly name: string;
  }>`select name from ${sql.table(MIGRATION_TABLE)}`.execute(db);
  const names = rows.map(({ name }) => name);
  if (names.every((name) => Object.hasOwn(MIGRATIONS, name))) return names.length === 0 ? null : names;
  throw new AuditFailure(
    'index_newer',
    'The audit index was made by a later version of this program. Use that version for every service of this database.',
  );
}

async function refuseForeign(db: Kysely<IndexTables>): Promise<void> {
  const [foreign] = await findPresent(db, TABLES);
  if (foreign === undefined) return;
  throw new AuditFailure(
    'index_foreign',
    `The database of \`storage.url\` has a table \`${foreign}\` that this program did not make. Name another schema with \`?options=-csearch_path%3DNAME\`.`,
  );
}

async function findPresent(db: Kysely<IndexTables>, names: readonly string[]): Promise<string[]> {
  const present = await Promise.all(
    names.map(async (name) => {
      const { rows } = await sql<{ readonly is_there: boolean }>`
        select to_regclass(${name}) is not null as is_there`.execute(db);
      return rows[0]!.is_there ? [name] : [];
    }),
  );
  return present.flat();
}

const MIGRATIONS: Record<string, Migration> = {
  '0001_index': {
    async up(db) {
      for (const statement of CREATE) await sql.raw(statement).execute(db);
    },
  },
};

/** Texts sort by their bytes, as in SQLite, whatever the collation of the database. */
const TEXT = 'text collate "C"';

/**
 * A partition has the events of one day. Its unique keys contain the time of the event, which belongs to the event, so
 * that an event has the same key in every journal. Sums have a row for each state folder, so that one can count its
 * events again while others count theirs.
 */
const CREATE: readonly string[] = [
  `create table audit_stream (
    only_row boolean primary key default true check (only_row),
    position bigint not null)`,
  'insert into audit_stream (position) values (0)',
  `create table audit_events (
    event_id ${TEXT} not null,
    timestamp_ms bigint not null,
    node ${TEXT} not null,
    writer ${TEXT} not null,
    seq bigint not null,
    boundary ${TEXT} not null,
    decision ${TEXT} not null,
    action ${TEXT} not null,
    policy_name ${TEXT} not null,
    agent_id ${TEXT} not null,
    tool_name ${TEXT},
    session_id ${TEXT},
    source_agent_id ${TEXT},
    destination_agent_id ${TEXT},
    tenant_id ${TEXT} not null,
    caller_id ${TEXT} not null,
    phase ${TEXT},
    event text not null,
    stream_position bigint not null,
    primary key (event_id, timestamp_ms)) partition by range (timestamp_ms)`,
  'create index audit_events_by_position on audit_events (stream_position)',
  'create index audit_events_by_time on audit_events (timestamp_ms, seq)',
  'create index audit_events_by_agent on audit_events (agent_id, timestamp_ms, seq)',
  'create index audit_events_by_tenant on audit_events (tenant_id, timestamp_ms, seq)',
  'create index audit_events_by_session on audit_events (session_id, timestamp_ms, seq) where session_id is not null',
  'create index audit_events_by_tool on audit_events (tool_name, timestamp_ms, seq) where tool_name is not null',
  "create index audit_events_by_action on audit_events (action, timestamp_ms, seq) where action <> 'allow'",
  "create index audit_events_by_rule on audit_events (policy_name, timestamp_ms, seq) where policy_name <> 'default.allow'",
  "create index audit_incidents_by_time on audit_events (timestamp_ms, seq) where action in ('redact', 'require_approval', 'block')",
  'create table audit_events_rest partition of audit_events default',
  `create table audit_event_tags (
    tag ${TEXT} not null,
    timestamp_ms bigint not null,
    seq bigint not null,
    event_id ${TEXT} not null,
    primary key (tag, timestamp_ms, seq, event_id)) partition by range (timestamp_ms)`,
  'create table audit_event_tags_rest partition of audit_event_tags default',
  `create table shown_actions (
    event_id ${TEXT} primary key,
    action_shown text not null,
    action_marks text not null)`,
  `create table audit_counts (
    width_ms bigint not null,
    field ${TEXT} not null,
    bucket_ms bigint not null,
    tenant_id ${TEXT} not null,
    agent_id ${TEXT} not null,
    value ${TEXT} not null,
    decision ${TEXT} not null,
    action ${TEXT} not null,
    node ${TEXT} not null,
    event_count bigint not null,
    first_ms bigint not null,
    last_ms bigint not null,
    primary key (width_ms, field, bucket_ms, tenant_id, agent_id, value, decision, action, node))
    with (fillfactor = 80)`,
  `create table audit_sessions (
    tenant_id ${TEXT} not null,
    session_id ${TEXT} not null,
    agent_id ${TEXT} not null,
    node ${TEXT} not null,
    event_count bigint not null,
    block_count bigint not null,
    first_ms bigint not null,
    last_ms bigint not null,
    primary key (tenant_id, session_id, agent_id, node))`,
  'create index audit_sessions_by_time on audit_sessions (last_ms)',
  'create index audit_sessions_by_tenant on audit_sessions (tenant_id, last_ms)',
  `create table audit_policies (
    bucket_ms bigint not null,
    policy_hash ${TEXT} not null,
    node ${TEXT} not null,
    event_count bigint not null,
    first_ms bigint not null,
    last_ms bigint not null,
    primary key (bucket_ms, policy_hash, node)) with (fillfactor = 80)`,
  `create table journal_positions (
    node ${TEXT} not null,
    writer ${TEXT} not null,
    segment bigint not null,
    byte_offset bigint not null,
    seq bigint not null,
    record_hash ${TEXT},
    lost_seq bigint,
    lost_hash ${TEXT},
    unordered_seq bigint,
    primary key (node, writer))`,
];
