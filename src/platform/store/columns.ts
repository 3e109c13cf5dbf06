/**
 * The column type for bytes in both databases: PostgreSQL has it under this name, and SQLite stores bytes unchanged in
 * a column of any type. The other types share their names: `text`, `bigint` for times in milliseconds and counts (up to
 * 2^53), `integer` with 0 and 1 for flags.
 */
export const BYTES_COLUMN = 'bytea';
