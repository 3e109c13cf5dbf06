import type { CreateTableBuilder } from 'kysely';
import type { Migration } from 'kysely/migration';
import { type ObjectSchema, type ObjectValue, Type } from '../../core/schema.ts';
import type { Column, ShownAs } from './columns.ts';
import type { Migrations } from './migrations.ts';

type AnyColumns = Readonly<Record<string, Column<never, unknown, ShownAs>>>;

/** One entity: its table, and the record that callers see. */
export interface Table<Name extends string, Columns extends AnyColumns> {
  readonly name: Name;
  readonly columns: Columns;
  readonly options: TableOptions<string, object>;
  /** The shown record's schema. All members are required. */
  readonly schema: ObjectSchema<ShownMembers<Columns>>;
  readonly example: ShownRecord<Columns>;
  /** Shows a row. */
  readonly show: (row: ShownRow<Columns>) => ShownRecord<Columns>;
}

export interface TableOptions<ColumnName extends string, RowType extends object> {
  readonly indexes?: Readonly<Record<string, readonly ColumnName[]>>;
  /** Unique constraints over several columns. */
  readonly unique?: Readonly<Record<string, readonly ColumnName[]>>;
  /** Rows that a new table has. */
  readonly rows?: readonly RowType[];
}

type RowOf<Columns> = {
  [Name in keyof Columns]: Columns[Name] extends Column<infer Stored, unknown, ShownAs> ? Stored : never;
};
/** The columns that are shown. `show` needs no others. */
type ShownRow<Columns extends AnyColumns> = RowOf<{
  [Name in keyof Columns as Columns[Name]['shown'] extends false ? never : Name]: Columns[Name];
}>;
type ShownName<Name, Shown> = Shown extends string
  ? Shown
  : Shown extends false
    ? never
    : Name extends `${infer Base}_ms`
      ? `${Base}_at`
      : Name;
type ShownMembers<Columns extends AnyColumns> = {
  [Name in keyof Columns as ShownName<Name, Columns[Name]['shown']>]: Columns[Name]['schema'];
};
type ShownRecord<Columns extends AnyColumns> = ObjectValue<ShownMembers<Columns>>;

type AnyTable = Pick<Table<string, AnyColumns>, 'name' | 'columns' | 'options'>;

/** A table's row, as the database stores it. */
export type Row<Described extends AnyTable> = RowOf<Described['columns']>;

/** A table's record, as callers see it. */
export type Shown<Described extends AnyTable> = ShownRecord<Described['columns']>;

/** Rows by table name: a feature adds them to `StoreTables`. */
export type Rows<Tables extends readonly AnyTable[]> = {
  readonly [Each in Tables[number] as Each['name']]: Row<Each>;
};

/** Describes a table. Several columns with `key` are one primary key, in their order. */
export function defineTable<const Name extends string, const Columns extends AnyColumns>(
  name: Name,
  columns: Columns,
  options: TableOptions<keyof Columns & string, RowOf<Columns>> = {},
): Table<Name, Columns> {
  const members = Object.entries(columns).flatMap(([column, each]) =>
    each.shown === false ? [] : [{ ...each, column, member: each.shown ?? column.replace(/_ms$/, '_at') }],
  );
  const collect = (getValue: (each: (typeof members)[number]) => unknown): unknown =>
    Object.fromEntries(members.map((each) => [each.member, getValue(each)]));
  return {
    name,
    columns,
    options,
    schema: Type.Object(collect(({ schema }) => schema) as ShownMembers<Columns>),
    example: collect(({ example }) => example) as ShownRecord<Columns>,
    show: (row) =>
      collect(({ column, show }) => show(row[column as keyof typeof row] as never)) as ShownRecord<Columns>,
  };
}

/** Returns the migration that creates a feature's tables. */
export function createTables(feature: string, tables: readonly AnyTable[]): Migrations {
  return {
    [`0001_${feature}`]: {
      async up(db) {
        for (const table of tables) await createTable(db, table);
      },
    },
  };
}

async function createTable(db: Parameters<Migration['up']>[0], table: AnyTable): Promise<void> {
  const { name, columns, options } = table;
  const { indexes = {}, unique = {}, rows = [] } = options;
  const keys = Object.keys(columns).filter((column) => columns[column]?.is_key);
  let built: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, { type, is_key, is_nullable, is_unique }] of Object.entries(columns))
    built = built.addColumn(column, type, (definition) => {
      const keyed = is_key && keys.length === 1 ? definition.primaryKey() : definition;
      const required = is_nullable ? keyed : keyed.notNull();
      return is_unique ? required.unique() : required;
    });
  if (keys.length > 1) built = built.addPrimaryKeyConstraint(`${name}_key`, keys);
  for (const [constraint, on] of Object.entries(unique))
    built = built.addUniqueConstraint(constraint, [...on]);
  await built.execute();
  for (const [index, on] of Object.entries(indexes))
    await db.schema
      .createIndex(index)
      .on(name)
      .columns([...on])
      .execute();
  if (rows.length > 0) await db.insertInto(name).values(rows).execute();
}
