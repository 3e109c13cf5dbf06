import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { StoreFailure } from './failure.ts';
import type { Migrations } from './migrations.ts';
import type { StoreSettings } from './settings.ts';
import type { StoreTables } from './tables.ts';

const TABLE = 'store_migrations';
const LOCK_TABLE = 'store_migration_lock';

/**
 * Applies the pending migrations, all or none. Concurrent processes take turns.
 *
 * @throws StoreFailure `store_newer` or `store_unreleased`, and changes nothing
 */
export async function applyMigrations(
  db: Kysely<StoreTables>,
  kind: StoreSettings['kind'],
  migrations: Migrations,
): Promise<void> {
  refuseUnknown(await readMigrationNames(db, kind), migrations);
  const { Migrator } = await import('kysely/migration');
  const schema = kind === 'postgres' ? { migrationTableSchema: await readStoreSchema(db) } : {};
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: TABLE,
    migrationLockTableName: LOCK_TABLE,
    // The second migration of one feature may follow the first one of another, regardless of their numbers.
    allowUnorderedMigrations: true,
    ...schema,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** @throws StoreFailure `store_newer`, `store_unreleased`, `store_older` */
export async function checkMigrations(
  db: Kysely<StoreTables>,
  kind: StoreSettings['kind'],
  migrations: Migrations,
): Promise<void> {
  const made = await readMigrationNames(db, kind);
  refuseUnknown(made, migrations);
  if (made !== null && Object.keys(migrations).every((name) => made.includes(name))) return;
  throw new StoreFailure(
    'store_older',
    'The store does not have the tables of this version. Start the service: it makes them.',
  );
}

function refuseUnknown(made: readonly string[] | null, migrations: Migrations): void {
  const unknown = (made ?? []).filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length === 0) return;
  if (unknown.some((name) => DEVELOPMENT_MIGRATION.test(name)))
    throw new StoreFailure(
      'store_unreleased',
      'The store was made by a development version before 0.1.0, and cannot be converted. Move `store.db*` of the state folder away (with `storage.url`, name an empty database), or keep using that version.',
    );
  throw new StoreFailure(
    'store_newer',
    'The store was changed by a later version of this program. Use that version, or one that is newer; nothing was changed.',
  );
}

/** Migration names before 0.1.0: `0010_approvals` to `0420_approval_actions`. */
const DEVELOPMENT_MIGRATION = /^0(?!00)[0-4][0-9]{2}_/;

/** Returns the names of the applied migrations; `null` in a store without our tables. */
async function readMigrationNames(
  db: Kysely<StoreTables>,
  kind: StoreSettings['kind'],
): Promise<string[] | null> {
  const found =
    kind === 'postgres'
      ? await sql<{ name: string | null }>`select to_regclass(${TABLE})::text as name`.execute(db)
      : await sql<{ name: string }>`select name from sqlite_master where name = ${TABLE}`.execute(db);
  if (!found.rows[0]?.name) return null;
  const rows = await db.selectFrom(TABLE).select('name').execute();
  return rows.map(({ name }) => name);
}

/**
 * Returns the schema for our tables: the first of the `search_path` that exists. Its encoding must be UTF8 for any
 * text.
 */
export async function readStoreSchema(db: QueryExecutorProvider): Promise<string> {
  const { rows } = await sql<{ name: string | null; encoding: string }>`
    select current_schema() as name, current_setting('server_encoding') as encoding
  `.execute(db);
  const { name, encoding } = rows[0]!;
  if (encoding !== 'UTF8') {
    throw new StoreFailure(
      'store_unavailable',
      'The database of `storage.url` does not hold every text, for its encoding is not UTF8. Make one that has it (`createdb --encoding=UTF8 --template=template0`).',
    );
  }
  if (name !== null) return name;
  throw new StoreFailure(
    'store_unavailable',
    'The database of `storage.url` has no schema in which tables can be made. Make one, or name one with `?options=-csearch_path%3DNAME`.',
  );
}
