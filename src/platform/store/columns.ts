/**
 * The columns of `defineTable`: each is stored as one type, and shown to callers as a member with schema and example.
 */
import { type Schema, Type } from '../../core/schema.ts';

/** The member that shows a column: another name, `false` for none, or the name that follows from the column's. */
export type ShownAs = string | false | undefined;

/** `Stored` is the type in a row, `Value` the one that callers see. */
export interface Column<Stored, Value, Name extends ShownAs> {
  /**
   * A type that both databases have. `integer` has 32 bits; `bigint` holds numbers up to 2^53. SQLite stores bytes
   * unchanged whatever the type is.
   */
  readonly type: 'text' | 'integer' | 'bigint' | 'bytea';
  readonly is_key: boolean;
  readonly is_unique: boolean;
  readonly is_nullable: boolean;
  readonly shown: Name;
  /** The shown value's schema. */
  readonly schema: Schema<Value>;
  readonly example: Value;
  readonly show: (stored: Stored) => Value;
}

export interface ColumnOptions<Value, Name extends ShownAs> {
  /** Belongs to the primary key. */
  readonly key?: boolean;
  readonly unique?: boolean;
  /** Default: the column's name, with `_at` for `_ms`. */
  readonly shown?: Name;
  readonly description?: string;
  /** The shown value in examples. Default: empty, zero or `false`. */
  readonly example?: Value;
}

/** Any text. */
export function text<Name extends ShownAs = undefined>(options: ColumnOptions<string, Name> = {}) {
  return build('text', Type.String(), (stored: string) => stored, { example: '', ...options });
}

/** One text from a list. */
export function oneOf<const Values extends readonly [string, ...string[]], Name extends ShownAs = undefined>(
  values: Values,
  options: ColumnOptions<Values[number], Name> = {},
) {
  type Value = Values[number];
  const show = (stored: Value) => stored;
  return build<Value, Value, Name>('text', Type.Enum(values), show, { example: values[0], ...options });
}

/** A 32-bit number, such as a version. */
export function integer<Name extends ShownAs = undefined>(options: ColumnOptions<number, Name> = {}) {
  return build('integer', Type.Integer(), (stored: number) => stored, { example: 0, ...options });
}

/** A number up to 2^53. */
export function count<Name extends ShownAs = undefined>(options: ColumnOptions<number, Name> = {}) {
  return build('bigint', Type.Integer(), (stored: number) => stored, { example: 0, ...options });
}

/** 0 or 1, shown as a boolean. */
export function flag<Name extends ShownAs = undefined>(options: ColumnOptions<boolean, Name> = {}) {
  return build('integer', Type.Boolean(), (stored: number) => stored === 1, { example: false, ...options });
}

/** Milliseconds since 1970, UTC, shown in ISO 8601. */
export function time<Name extends ShownAs = undefined>(options: ColumnOptions<string, Name> = {}) {
  const show = (stored: number) => new Date(stored).toISOString();
  return build('bigint', Type.String(), show, { example: '2026-01-31T12:00:00.000Z', ...options });
}

/** Milliseconds, shown with a unit. */
export function duration<Name extends ShownAs = undefined>(options: ColumnOptions<string, Name> = {}) {
  return build('bigint', Type.String(), formatDuration, { example: '15m', ...options });
}

/** A value as JSON. `schema` describes it parsed. */
export function json<Value, Name extends ShownAs = undefined>(
  schema: Schema<Value>,
  options: ColumnOptions<Value, Name> & { readonly example: Value },
) {
  return build('text', schema, (stored: string): Value => JSON.parse(stored), options);
}

/** Texts as a JSON list. */
export function textList<Name extends ShownAs = undefined>(
  options: ColumnOptions<readonly string[], Name> = {},
) {
  return json(Type.Array(Type.String()), { example: [], ...options });
}

/** Bytes. They are never shown. */
export function bytes() {
  return build('bytea', Type.Null(), (_: Uint8Array) => null, { example: null, shown: false });
}

/** Permits `null`. */
export function nullable<Stored, Value, Name extends ShownAs>(
  column: Column<Stored, Value, Name>,
  example: Value | null = null,
): Column<Stored | null, Value | null, Name> {
  const show = (stored: Stored | null) => (stored === null ? null : column.show(stored));
  return { ...column, is_nullable: true, schema: Type.Nullable(column.schema), example, show };
}

/** Shows the empty text as `null`. The database requires the text, because it may be a part of the key. */
export function emptyAsNull<Value, Name extends ShownAs>(
  column: Column<string, Value, Name>,
): Column<string, Value | null, Name> {
  const show = (stored: string) => (stored === '' ? null : column.show(stored));
  return { ...column, schema: Type.Nullable(column.schema), example: null, show };
}

/** Formats a duration in the largest unit that divides it: `15m`. */
export function formatDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['s', 1_000];
  return `${Math.round(ms / size)}${unit}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

function build<Stored, Value, Name extends ShownAs>(
  type: Column<Stored, Value, Name>['type'],
  schema: Schema<Value>,
  show: (stored: Stored) => Value,
  options: ColumnOptions<Value, Name> & { readonly example: Value },
) {
  const { key = false, unique = false, shown, description, example } = options;
  const described = description === undefined ? schema : { ...schema, description };
  const column = { type, is_key: key, is_unique: unique, is_nullable: false };
  // Without `NoInfer`, `defineTable` would infer that a column may have any name.
  return { ...column, shown, schema: described, example, show } as Column<Stored, Value, NoInfer<Name>>;
}
