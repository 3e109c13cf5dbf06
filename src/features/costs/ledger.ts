import type { Transaction } from 'kysely';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import { addSpending } from './spending.ts';
import type { SpendingRow } from './types.ts';
import type { Budget, BudgetWindow } from './windows.ts';

/** An amount in whole millionths of a dollar, and in tokens. */
export interface Amount {
  readonly micro_usd: number;
  readonly tokens: number;
}

/** Reserves an amount in all windows or in none. */
export interface ReserveEntry {
  readonly kind: 'reserve';
  readonly reservation_id: string;
  readonly windows: readonly BudgetWindow[];
  readonly amount: Amount;
  /** The spending that is recorded if the reservation expires unsettled. */
  readonly estimate: SpendingRow;
  readonly now_ms: number;
  readonly expires_ms: number;
}

/** Releases a reservation and charges the actual cost. */
export interface SettleEntry {
  readonly kind: 'settle';
  /** `null` if nothing was reserved. */
  readonly reservation_id: string | null;
  readonly windows: readonly BudgetWindow[];
  readonly amount: Amount;
  /** `null` if nothing was spent. */
  readonly spending: SpendingRow | null;
  readonly now_ms: number;
}

export type LedgerEntry = ReserveEntry | SettleEntry;

/** A window without enough budget for a call. */
export interface WindowRefusal {
  readonly window: BudgetWindow;
  readonly cause: 'exhausted' | 'exceeds_remaining';
  readonly used: Amount;
}

/** A window whose usage reached a threshold that was not reported before. */
export interface ReachedThreshold {
  readonly window: BudgetWindow;
  readonly level: 1 | 2;
  readonly used: Amount;
}

export interface LedgerResult {
  /** The reason why nothing was reserved; `null` if it was, and for settled entries. */
  readonly refusal: WindowRefusal | null;
  readonly thresholds: readonly ReachedThreshold[];
}

type Trx = Transaction<StoreTables>;
type BudgetRow = {
  -readonly [Name in keyof StoreTables['budget_windows']]: StoreTables['budget_windows'][Name];
};
type ReservationRow = StoreTables['budget_reservations'];

/**
 * Applies all entries in one transaction and in order. Their rows are locked against other processes, and each entry
 * sees the effect of the entries before it.
 */
export function applyLedgerEntries(
  store: Store,
  bookings: readonly LedgerEntry[],
): Promise<readonly LedgerResult[]> {
  return store.transaction(async (trx) => {
    const reservations = await lockReservations(trx, bookings);
    const rows = await lockOrInsertRows(trx, bookings, reservations);
    const page: LedgerPage = {
      rows,
      changed: new Set(),
      reservations,
      added: [],
      removed: new Set(),
      spending: [],
    };
    const results = bookings.map((booking) =>
      booking.kind === 'reserve' ? applyReserve(page, booking) : applySettle(page, booking),
    );
    await writePage(trx, page);
    return results;
  });
}

/** The rows that one transaction has loaded, and the changes that it will write. */
interface LedgerPage {
  readonly rows: ReadonlyMap<string, BudgetRow>;
  readonly changed: Set<BudgetRow>;
  readonly reservations: ReadonlyMap<string, ReservationRow>;
  readonly added: ReservationRow[];
  readonly removed: Set<string>;
  readonly spending: SpendingRow[];
}

function applyReserve(page: LedgerPage, request: ReserveEntry): LedgerResult {
  const { windows, amount, now_ms } = request;
  for (const window of windows) {
    const refusal = findRefusal(page, window, amount);
    if (refusal !== null) return { refusal, thresholds: [] };
  }
  for (const window of windows) {
    const row = page.rows.get(window.row_id)!;
    row.reserved_micro_usd += amount.micro_usd;
    row.reserved_tokens += amount.tokens;
    row.changed_ms = now_ms;
    page.changed.add(row);
  }
  page.added.push({
    reservation_id: request.reservation_id,
    parts: JSON.stringify(windows.map(({ row_id }) => [row_id, amount.micro_usd, amount.tokens])),
    estimate: JSON.stringify(request.estimate),
    expires_ms: request.expires_ms,
    is_charged: 0,
  });
  return { refusal: null, thresholds: [] };
}

/** Returns the refusal if the window's limit is reached, or if the amount exceeds what remains. */
function findRefusal(
  page: LedgerPage,
  window: BudgetWindow,
  { micro_usd, tokens }: Amount,
): WindowRefusal | null {
  const { budget } = window.share;
  if (budget.enforcement === 'monitor') return null;
  const used = sumWindowUsage(page.rows, window, 'reserved too');
  const over = (limit: number | null, amount: number) => limit !== null && amount >= limit;
  if (over(budget.limit_micro_usd, used.micro_usd) || over(budget.limit_tokens, used.tokens))
    return { window, cause: 'exhausted', used };
  const past = (limit: number | null, amount: number) => limit !== null && amount > limit;
  if (
    past(budget.limit_micro_usd, used.micro_usd + micro_usd) ||
    past(budget.limit_tokens, used.tokens + tokens)
  )
    return { window, cause: 'exceeds_remaining', used };
  return null;
}

function applySettle(
  page: LedgerPage,
  { reservation_id, windows, amount, spending, now_ms }: SettleEntry,
): LedgerResult {
  if (reservation_id !== null) {
    const held = page.reservations.get(reservation_id);
    // A reservation that is already settled has no row, so settling again has no effect.
    if (held === undefined || page.removed.has(reservation_id)) return { refusal: null, thresholds: [] };
    page.removed.add(reservation_id);
    releaseReservation(page, held, now_ms);
  }
  if (spending === null) return { refusal: null, thresholds: [] };
  page.spending.push(spending);
  return {
    refusal: null,
    thresholds: windows.flatMap((window) => chargeWindow(page, window, amount, now_ms)),
  };
}

/** Releases a reservation, or reverses its charge if it expired before it was settled. */
function releaseReservation(
  { rows, changed, spending }: LedgerPage,
  held: ReservationRow,
  nowMs: number,
): void {
  for (const [rowId, microUsd, tokens] of parseReservationParts(held)) {
    const row = rows.get(rowId);
    if (row === undefined) continue;
    if (held.is_charged === 1) {
      row.spent_micro_usd = Math.max(0, row.spent_micro_usd - microUsd);
      row.spent_tokens = Math.max(0, row.spent_tokens - tokens);
    } else {
      row.reserved_micro_usd = Math.max(0, row.reserved_micro_usd - microUsd);
      row.reserved_tokens = Math.max(0, row.reserved_tokens - tokens);
    }
    row.changed_ms = nowMs;
    changed.add(row);
  }
  if (held.is_charged === 1) spending.push(negateSpending(JSON.parse(held.estimate) as SpendingRow));
}

function chargeWindow(
  page: LedgerPage,
  window: BudgetWindow,
  amount: Amount,
  nowMs: number,
): ReachedThreshold[] {
  const row = page.rows.get(window.row_id)!;
  row.spent_micro_usd += amount.micro_usd;
  row.spent_tokens += amount.tokens;
  row.changed_ms = nowMs;
  page.changed.add(row);
  const used = sumWindowUsage(page.rows, window, 'spent alone');
  const level = findThresholdLevel(window.share.budget, used);
  const reportedLevel = Math.max(...window.row_ids.map((rowId) => page.rows.get(rowId)?.reported_level ?? 0));
  if (level === 0 || level <= reportedLevel) return [];
  row.reported_level = level;
  return [{ window, level, used }];
}

/** Returns 0 below the warning threshold, 1 above it, and 2 if the limit is reached. */
export function findThresholdLevel(
  { limit_micro_usd, limit_tokens, warn_at }: Budget,
  used: Amount,
): 0 | 1 | 2 {
  const parts = [
    [limit_micro_usd, used.micro_usd],
    [limit_tokens, used.tokens],
  ] as const;
  if (parts.some(([limit, amount]) => limit !== null && amount >= limit)) return 2;
  return parts.some(([limit, amount]) => limit !== null && amount >= limit * warn_at) ? 1 : 0;
}

/** Returns the usage of a window over all of its rows. */
export function sumWindowUsage(
  rows: ReadonlyMap<
    string,
    Pick<BudgetRow, 'spent_micro_usd' | 'spent_tokens' | 'reserved_micro_usd' | 'reserved_tokens'>
  >,
  { row_ids }: Pick<BudgetWindow, 'row_ids'>,
  which: 'spent alone' | 'reserved alone' | 'reserved too',
): Amount {
  let microUsd = 0;
  let tokens = 0;
  for (const rowId of row_ids) {
    const row = rows.get(rowId);
    if (row === undefined) continue;
    if (which !== 'reserved alone') {
      microUsd += row.spent_micro_usd;
      tokens += row.spent_tokens;
    }
    if (which !== 'spent alone') {
      microUsd += row.reserved_micro_usd;
      tokens += row.reserved_tokens;
    }
  }
  return { micro_usd: microUsd, tokens };
}

/** Returns the row that reverses another one. */
function negateSpending(line: SpendingRow): SpendingRow {
  const negative = Object.entries(line).map(([name, value]) => [
    name,
    typeof value === 'number' ? -value : value,
  ]);
  return Object.fromEntries(negative) as SpendingRow;
}

/** Returns the reserved amounts of a call, by row. */
export function parseReservationParts({
  parts,
}: Pick<ReservationRow, 'parts'>): readonly (readonly [row_id: string, micro_usd: number, tokens: number])[] {
  return JSON.parse(parts) as readonly (readonly [string, number, number])[];
}

async function lockReservations(
  trx: Trx,
  bookings: readonly LedgerEntry[],
): Promise<ReadonlyMap<string, ReservationRow>> {
  const ids = bookings.flatMap((each) => (each.kind === 'settle' ? (each.reservation_id ?? []) : []));
  if (ids.length === 0) return new Map();
  const found = await trx
    .selectFrom('budget_reservations')
    .selectAll()
    .where('reservation_id', 'in', [...new Set(ids)])
    .orderBy('reservation_id')
    .forUpdate()
    .execute();
  return new Map(found.map((held) => [held.reservation_id, held]));
}

/** Returns all affected rows, locked in one global order to avoid deadlocks. Missing rows are inserted. */
async function lockOrInsertRows(
  trx: Trx,
  bookings: readonly LedgerEntry[],
  held: ReadonlyMap<string, ReservationRow>,
): Promise<ReadonlyMap<string, BudgetRow>> {
  const windows = bookings.flatMap(({ windows }) => windows);
  const ids = new Set([
    ...windows.flatMap(({ row_ids }) => row_ids),
    ...[...held.values()].flatMap((each) => parseReservationParts(each).map(([rowId]) => rowId)),
  ]);
  const rows = await lockBudgetRows(trx, [...ids]);
  const missing = new Map(
    windows.filter(({ row_id }) => !rows.has(row_id)).map((window) => [window.row_id, createRow(window)]),
  );
  if (missing.size === 0) return rows;
  const made = [...missing.values()].toSorted((a, b) => (a.row_id < b.row_id ? -1 : 1));
  for (const part of splitIntoChunks(made, ROWS_AT_ONCE))
    await trx
      .insertInto('budget_windows')
      .values([...part])
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  return new Map([...rows, ...(await lockBudgetRows(trx, [...missing.keys()]))]);
}

/** Returns the rows with these ids, locked until the transaction ends. */
export async function lockBudgetRows(trx: Trx, ids: readonly string[]): Promise<Map<string, BudgetRow>> {
  const rows = new Map<string, BudgetRow>();
  for (const part of splitIntoChunks(ids.toSorted(), IDS_AT_ONCE)) {
    const found = await trx
      .selectFrom('budget_windows')
      .selectAll()
      .where('row_id', 'in', [...part])
      .orderBy('row_id')
      .forUpdate()
      .execute();
    for (const row of found) rows.set(row.row_id, row);
  }
  return rows;
}

/** Both databases limit a statement to about 32,000 values. */
const IDS_AT_ONCE = 5_000;
const ROWS_AT_ONCE = 500;

function* splitIntoChunks<Each>(list: readonly Each[], length: number): Generator<readonly Each[]> {
  for (let at = 0; at < list.length; at += length) yield list.slice(at, at + length);
}

function createRow({ share, row_id, starts_ms, ends_ms }: BudgetWindow): BudgetRow {
  const { budget, scope } = share;
  return {
    row_id,
    budget: budget.name,
    scope: JSON.stringify(scope),
    period: budget.period,
    tenant_id: scope.tenant_id ?? budget.tenant_id ?? '',
    starts_ms,
    ends_ms,
    spent_micro_usd: 0,
    spent_tokens: 0,
    reserved_micro_usd: 0,
    reserved_tokens: 0,
    reported_level: 0,
    changed_ms: 0,
  };
}

async function writePage(trx: Trx, { changed, added, removed, spending }: LedgerPage): Promise<void> {
  for (const row of changed) {
    const {
      row_id,
      spent_micro_usd,
      spent_tokens,
      reserved_micro_usd,
      reserved_tokens,
      reported_level,
      changed_ms,
    } = row;
    await trx
      .updateTable('budget_windows')
      .set({ spent_micro_usd, spent_tokens, reserved_micro_usd, reserved_tokens, reported_level, changed_ms })
      .where('row_id', '=', row_id)
      .execute();
  }
  if (added.length > 0) await trx.insertInto('budget_reservations').values(added).execute();
  if (removed.size > 0)
    await trx
      .deleteFrom('budget_reservations')
      .where('reservation_id', 'in', [...removed])
      .execute();
  await addSpending(trx, spending);
}
