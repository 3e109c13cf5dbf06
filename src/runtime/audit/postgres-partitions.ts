import { type Kysely, sql } from 'kysely';
import type { IndexTables } from './index-tables.ts';

/** The partitions of an index: one for the events of each day, and one for all other times. */
export interface Partitions {
  /** Makes sure that the days of these times, and the next days, have partitions. Milliseconds since 1970. */
  readonly prepare: (times: readonly number[]) => Promise<void>;
  /** Drops the partitions that end before a time, and returns the number of events in them. */
  readonly drop: (beforeMs: number) => Promise<number>;
}

const DAY_MS = 86_400_000;
/** The days ahead that have partitions, so that no event waits for one at midnight. */
const AHEAD_DAYS = 2;
const PARTITIONED = ['audit_events', 'audit_event_tags'];

/**
 * Opens the partitions. Only the days that are kept get one: callers report events of any time, and a partition for each
 * would fill the catalogue. The other events are in the default partition.
 */
export function openPartitions(
  db: Kysely<IndexTables>,
  keptDays: number,
  nowMs: () => number = Date.now,
): Partitions {
  const known = new Set<number>();
  return {
    prepare: async (times) => {
      const today = getDay(nowMs());
      const days = new Set(Array.from({ length: AHEAD_DAYS + 1 }, (_, ahead) => today + ahead));
      for (const ms of times) {
        const day = getDay(ms);
        if (day >= today - keptDays && day <= today + AHEAD_DAYS) days.add(day);
      }
      for (const day of [...days].filter((each) => !known.has(each))) {
        await createDay(db, day);
        known.add(day);
      }
    },
    drop: async (beforeMs) => {
      known.clear();
      let events = 0;
      for (const day of await listDays(db))
        if ((day + 1) * DAY_MS <= beforeMs) events += await dropDay(db, day);
      return events;
    },
  };
}

function getDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Returns `audit_events_20260131`. */
function buildName(table: string, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** Services that share the database create and drop partitions in turns. */
async function takeTurn(db: Kysely<IndexTables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('audit_index_partitions'))`.execute(db);
}

async function createDay(db: Kysely<IndexTables>, day: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await takeTurn(transaction);
    for (const table of PARTITIONED) await createPartition(transaction, table, day);
  });
}

/**
 * Creates a partition and attaches it, which lets others read and insert meanwhile. Events of the day that came before
 * their partition move to it.
 */
async function createPartition(db: Kysely<IndexTables>, table: string, day: number): Promise<void> {
  const name = buildName(table, day);
  if (await exists(db, name)) return;
  const [parent, rest, own] = [sql.table(table), sql.table(`${table}_rest`), sql.table(name)];
  const [fromMs, toMs] = [sql.lit(day * DAY_MS), sql.lit((day + 1) * DAY_MS)];
  await sql`create table ${own} (like ${parent} including defaults)`.execute(db);
  await sql`
    with moved as (delete from ${rest} where timestamp_ms >= ${fromMs} and timestamp_ms < ${toMs} returning *)
    insert into ${own} select * from moved`.execute(db);
  await sql`alter table ${parent} attach partition ${own} for values from (${fromMs}) to (${toMs})`.execute(
    db,
  );
}

async function exists(db: Kysely<IndexTables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ readonly is_there: boolean }>`
    select to_regclass(${name}) is not null as is_there`.execute(db);
  return rows[0]!.is_there;
}

/** Lists the days that have a partition, oldest first. */
async function listDays(db: Kysely<IndexTables>): Promise<readonly number[]> {
  const { rows } = await sql<{ readonly name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass('audit_events') order by 1`.execute(db);
  return rows.flatMap(({ name }) => {
    const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    return year === undefined ? [] : [Date.parse(`${year}-${month}-${date}T00:00:00Z`) / DAY_MS];
  });
}

async function dropDay(db: Kysely<IndexTables>, day: number): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await takeTurn(transaction);
    // Another service may have dropped it since it was listed.
    if (!(await exists(transaction, buildName('audit_events', day)))) return 0;
    const { rows } = await sql<{ readonly events: number }>`
      select count(*) as events from ${sql.table(buildName('audit_events', day))}`.execute(transaction);
    for (const table of PARTITIONED)
      await sql`drop table if exists ${sql.table(buildName(table, day))}`.execute(transaction);
    return rows[0]!.events;
  });
}
