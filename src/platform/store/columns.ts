/**
 * The type of a column of bytes, in both databases: PostgreSQL knows it by this name, and SQLite keeps bytes as
 * they are in a column of any type. The others have one name anyway: `text`, `bigint` for times in milliseconds
 * and counts (numbers up to 2^53), `integer` with 0 and 1 for flags.
 */
export const BYTES_COLUMN = 'bytea';
