import { hash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import type { SpendingFigures, SpendingFilter, SpendingKey, SpendingRow, SpendingSum } from './types.ts';

/** Adds rows to the recorded spending of each day and key. */
export async function addSpending(db: Kysely<StoreTables>, lines: readonly SpendingRow[]): Promise<void> {
  const rows = [...mergeRows(lines)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [rowId, line] of rows) {
    await db
      .insertInto('spending')
      .values({ row_id: rowId, ...line })
      .onConflict((conflict) =>
        conflict
          .column('row_id')
          .doUpdateSet((eb) =>
            Object.fromEntries(
              SPENDING_FIGURES.map((name) => [name, eb(`spending.${name}`, '+', eb.ref(`excluded.${name}`))]),
            ),
          ),
      )
      .execute();
  }
}

/** Merges rows with the same key; returns them by the hash of their key. */
function mergeRows(lines: Iterable<SpendingRow>): ReadonlyMap<string, SpendingRow> {
  const rows = new Map<string, SpendingRow>();
  for (const line of lines) {
    const rowId = hashSpendingKey(line);
    const known = rows.get(rowId);
    rows.set(rowId, known === undefined ? line : { ...line, ...addFigures(known, line) });
  }
  return rows;
}

/** Returns the sum of two sets of figures. */
export function addFigures(a: SpendingFigures, b: SpendingFigures): SpendingFigures {
  return mapFigures((name) => a[name] + b[name]);
}

/** Returns the identifier under which rows with the same key are added up. */
export function hashSpendingKey({ day, tenant_id, agent_id, user_id, model, provider }: SpendingKey): string {
  return hash('sha256', JSON.stringify([day, tenant_id, agent_id, user_id, model, provider]), 'hex');
}

/**
 * Returns recorded spending grouped by some dimensions, highest cost first. Without dimensions it returns one row with
 * the total. Groups without spending have no row, but the total always has one.
 */
export async function readSpending(
  store: Store,
  { since, until, tenant_ids, agent_ids, model }: SpendingFilter,
  by: readonly (keyof SpendingKey)[],
  limit: number,
): Promise<readonly SpendingSum[]> {
  let query = store.db.selectFrom('spending').where('day', '>=', since).where('day', '<=', until);
  // An empty SQL list is invalid, and neither a tenant nor an agent has an empty name.
  if (tenant_ids !== '*') query = query.where('tenant_id', 'in', ['', ...tenant_ids]);
  if (agent_ids !== '*') query = query.where('agent_id', 'in', ['', ...agent_ids]);
  if (model !== null) query = query.where('model', '=', model);
  const rows = await query
    .select([...by])
    .select(({ fn }) => SPENDING_FIGURES.map((name) => fn.sum<number | string | null>(name).as(name)))
    .$if(by.length > 0, (some) => some.groupBy([...by]))
    .orderBy(({ fn }) => fn.sum('micro_usd'), 'desc')
    .$call((some) => by.reduce((sorted, name) => sorted.orderBy(name), some))
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, ...mapFigures((name) => Number(row[name] ?? 0)) }));
}

/** The names of all figures of a row. */
export const SPENDING_FIGURES = [
  'calls',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'micro_usd',
  'estimated_calls',
  'assumed_calls',
] as const satisfies readonly (keyof SpendingFigures)[];

function mapFigures(figureOf: (name: keyof SpendingFigures) => number): SpendingFigures {
  return Object.fromEntries(SPENDING_FIGURES.map((name) => [name, figureOf(name)])) as SpendingFigures;
}
