import { hash, randomInt } from 'node:crypto';
import { listActingAgents } from '../../../core/decision/rules.ts';
import { readCallValue } from '../../../core/policy/conditions/arguments.ts';
import { formatDecimal, isGreater, parseDecimal } from '../../../core/policy/conditions/decimal.ts';
import type { Content, Crossing, StoredTotal, TotalQuery, Verdict } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { TotalNeed } from './find-totals.ts';
import { addToSpans, sumSpans } from './time-spans.ts';

/** The number of decisions that one call may need because other calls change its totals meanwhile. */
export const TOTAL_ATTEMPTS_MAX = 4;

/** Other calls changed a call's totals each time that it was decided, so it is blocked. */
export class TotalsBusy extends Error {
  constructor() {
    super('Other calls changed the same sums or counts at the same time; call again.');
    this.name = 'TotalsBusy';
  }
}

/** The totals for one decision, as they were read before it. */
export interface LoadedTotals {
  readonly stored: readonly StoredTotal[];
  /** Adds an allowed call to its totals. Returns false, and adds nothing, if one has changed since it was read. */
  readonly commit: (verdict: Verdict) => Promise<boolean>;
}

/** One row: a total of one user, agent, session or tenant. */
interface TotalRow {
  readonly total_hash: string;
  /** `null` if there is no row yet. */
  readonly version: number | null;
  readonly spans: string;
}

/** Reads a call's totals. @throws StoreFailure */
export async function loadTotals(
  store: Store,
  crossing: Crossing,
  needs: readonly TotalNeed[],
): Promise<LoadedTotals> {
  const keyed = needs.map((need) => ({ need, hashes: listHashes(need.query, crossing) }));
  const rows = await readRows(
    store,
    crossing.tenant_id,
    keyed.flatMap(({ hashes }) => hashes),
  );
  const stored = keyed.flatMap(({ need, hashes }): StoredTotal[] =>
    hashes.length === 0 ? [] : [{ ...need, value: findLargest(need.query, hashes, rows, crossing.now_ms) }],
  );
  const commit = async (verdict: Verdict) => {
    const content = verdict.content ?? crossing.content;
    const changes = keyed
      .filter(({ need }) => need.includes_call)
      .flatMap(({ need, hashes }) => {
        const value = getAddedValue(content, need.query);
        return hashes.map((each) => ({ ...getRow(rows, each), value, window_ms: need.query.window_ms }));
      });
    return changes.length === 0 || saveRows(store, crossing, changes);
  };
  return { stored, commit };
}

/** Returns a total's rows, one for each agent that acts; empty if it needs a proved person and there is none. */
function listHashes(query: TotalQuery, crossing: Crossing): readonly string[] {
  const { function: name, tool, argument, window_ms, scope } = query;
  return listSubjects(query, crossing).map((subject) =>
    hash('sha256', JSON.stringify([name, tool, argument, window_ms, scope, subject]), 'hex'),
  );
}

function listSubjects({ scope }: TotalQuery, crossing: Crossing): readonly unknown[] {
  const { session_id, agent_id, principal } = crossing;
  if (scope === 'tenant') return [''];
  if (scope === 'agent') return listActingAgents(crossing);
  if (scope === 'session') return [session_id === null ? ['', agent_id] : [session_id]];
  return principal?.user == null ? [] : [principal.user.user_id];
}

async function readRows(
  { db }: Store,
  tenantId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TotalRow>> {
  if (hashes.length === 0) return new Map();
  const rows = await db
    .selectFrom('totals')
    .select(['total_hash', 'version', 'spans'])
    .where('tenant_id', '=', tenantId)
    .where('total_hash', 'in', [...hashes])
    .execute();
  return new Map(rows.map((row) => [row.total_hash, row]));
}

function getRow(rows: ReadonlyMap<string, TotalRow>, totalHash: string): TotalRow {
  return rows.get(totalHash) ?? { total_hash: totalHash, version: null, spans: '[]' };
}

function findLargest(
  { window_ms }: TotalQuery,
  hashes: readonly string[],
  rows: ReadonlyMap<string, TotalRow>,
  nowMs: number,
): string | null {
  let largest: string | null = null;
  for (const each of hashes) {
    const sum = sumSpans(getRow(rows, each).spans, window_ms, nowMs);
    if (sum === null) return null;
    if (largest === null || isGreater(parseDecimal(sum)!, parseDecimal(largest)!)) largest = sum;
  }
  return largest;
}

/** Returns what a call adds; `null` if its argument is no number, and then the total has no result until it expires. */
function getAddedValue(content: Content, { argument }: TotalQuery): string | null {
  try {
    return formatDecimal(readCallValue(content, argument));
  } catch {
    return null;
  }
}

interface RowChange extends TotalRow {
  readonly value: string | null;
  readonly window_ms: number;
}

/** Rolls a change back. It never leaves this file. */
const CHANGED = new Error('A total has changed.');

async function saveRows(
  store: Store,
  { tenant_id, now_ms }: Crossing,
  changes: readonly RowChange[],
): Promise<boolean> {
  // Sorted, so that two calls with the same totals do not deadlock.
  const sorted = changes.toSorted((one, other) => (one.total_hash < other.total_hash ? -1 : 1));
  try {
    await store.transaction(async (trx) => {
      for (const { total_hash, version, spans, value, window_ms } of sorted) {
        const row = {
          spans: addToSpans(spans, window_ms, now_ms, value),
          expires_ms: now_ms + 2 * window_ms,
        };
        const changed =
          version === null
            ? await trx
                .insertInto('totals')
                .values({ tenant_id, total_hash, version: randomInt(2 ** 47), ...row })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst()
                .then(({ numInsertedOrUpdatedRows }) => numInsertedOrUpdatedRows)
            : await trx
                .updateTable('totals')
                .set({ version: version + 1, ...row })
                .where('tenant_id', '=', tenant_id)
                .where('total_hash', '=', total_hash)
                .where('version', '=', version)
                .executeTakeFirst()
                .then(({ numUpdatedRows }) => numUpdatedRows);
        if (changed !== 1n) throw CHANGED;
      }
    });
    return true;
  } catch (fault) {
    if (fault !== CHANGED) throw fault;
    return false;
  }
}
