import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { StoreFailure } from '../../platform/store/failure.ts';
import { decodeColumnText, encodeColumnText } from './text-encoding.ts';

/** Maps a database error to a failure; `null` for a bug of the program. */
export type FailureOf = (error: unknown) => StoreFailure | null;

/**
 * Wraps a driver. Database errors become a `StoreFailure`, texts are encoded and decoded, and rows are plain objects.
 * Errors in a statement itself are rethrown unchanged.
 */
export function guardDriver(driver: Driver, failureOf: FailureOf): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw failureOf(error) ?? error;
    }
  };
  const of = (connection: DatabaseConnection): DatabaseConnection => inner.get(connection)!;
  return {
    init: (options) => attempt(() => driver.init(options)),
    acquireConnection: async (options) => {
      const own = await attempt(() => driver.acquireConnection(options));
      const guarded = guardConnection(own, attempt, failureOf);
      inner.set(guarded, own);
      return guarded;
    },
    beginTransaction: (connection, settings) =>
      attempt(() => driver.beginTransaction(of(connection), settings)),
    commitTransaction: (connection) => attempt(() => driver.commitTransaction(of(connection))),
    // The caller needs the cause of the rollback, not its failure. The driver discards a connection that cannot roll
    // back.
    rollbackTransaction: (connection) => driver.rollbackTransaction(of(connection)).catch(() => {}),
    releaseConnection: (connection, options) => driver.releaseConnection(of(connection), options),
    destroy: (options) => driver.destroy(options),
  };
}

function guardConnection(
  own: DatabaseConnection,
  attempt: <Result>(work: () => Promise<Result>) => Promise<Result>,
  failureOf: FailureOf,
): DatabaseConnection {
  return {
    executeQuery: async <Row>(query: CompiledQuery) => {
      const result = await attempt(() => own.executeQuery<Row>(encodeQuery(query)));
      return { ...result, rows: result.rows.map(decodeRow) };
    },
    async *streamQuery<Row>(
      query: CompiledQuery,
      chunkSize: number,
    ): AsyncIterableIterator<QueryResult<Row>> {
      try {
        for await (const part of own.streamQuery<Row>(encodeQuery(query), chunkSize))
          yield { ...part, rows: part.rows.map(decodeRow) };
      } catch (error) {
        throw failureOf(error) ?? error;
      }
    },
  };
}

function encodeQuery(query: CompiledQuery): CompiledQuery {
  const isPlain = (value: unknown): boolean => typeof value !== 'string' || encodeColumnText(value) === value;
  if (query.parameters.every(isPlain)) return query;
  const parameters = query.parameters.map((value) =>
    typeof value === 'string' ? encodeColumnText(value) : value,
  );
  return { ...query, parameters };
}

function decodeRow<Row>(row: Row): Row {
  const plain: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row as Record<string, unknown>)) {
    plain[column] = typeof value === 'string' ? decodeColumnText(value) : value;
  }
  return plain as Row;
}
