import type { Store } from '../../platform/store/index.ts';
import { lockBudgetRows, parseReservationParts } from './ledger.ts';
import { addSpending } from './spending.ts';
import type { SpendingRow } from './types.ts';

const BATCH = 200;
const DAY_MS = 86_400_000;
/** The time after its expiry in which a reservation can still be settled. */
const SETTLE_MS = DAY_MS;
/** The time that a window is kept after its end. By then none of its reservations can be settled any more. */
const ENDED_MS = 2 * DAY_MS;

/**
 * Charges expired reservations, whose process was killed before it settled them, at the full reserved amount. Settling
 * one later replaces this charge. Processes one batch; returns `true` if more may remain.
 */
export async function chargeExpiredReservations(store: Store, nowMs: number): Promise<boolean> {
  return store.transaction(async (trx) => {
    const expired = await trx
      .selectFrom('budget_reservations')
      .selectAll()
      .where('is_charged', '=', 0)
      .where('expires_ms', '<=', nowMs)
      .orderBy('reservation_id')
      .limit(BATCH)
      .forUpdate()
      .execute();
    if (expired.length === 0) return false;
    const parts = expired.flatMap((held) => parseReservationParts(held));
    const rows = await lockBudgetRows(trx, [...new Set(parts.map(([rowId]) => rowId))]);
    for (const [rowId, microUsd, tokens] of parts) {
      const row = rows.get(rowId);
      if (row === undefined) continue;
      row.reserved_micro_usd = Math.max(0, row.reserved_micro_usd - microUsd);
      row.reserved_tokens = Math.max(0, row.reserved_tokens - tokens);
      row.spent_micro_usd += microUsd;
      row.spent_tokens += tokens;
    }
    for (const {
      row_id,
      spent_micro_usd,
      spent_tokens,
      reserved_micro_usd,
      reserved_tokens,
    } of rows.values())
      await trx
        .updateTable('budget_windows')
        .set({ spent_micro_usd, spent_tokens, reserved_micro_usd, reserved_tokens, changed_ms: nowMs })
        .where('row_id', '=', row_id)
        .execute();
    await trx
      .updateTable('budget_reservations')
      .set({ is_charged: 1 })
      .where(
        'reservation_id',
        'in',
        expired.map(({ reservation_id }) => reservation_id),
      )
      .execute();
    await addSpending(
      trx,
      expired.map(({ estimate }) => JSON.parse(estimate) as SpendingRow),
    );
    return expired.length === BATCH;
  });
}

/** Deletes rows that no operation reads any more. Deletes one batch of each kind; returns `true` if more may remain. */
export async function deleteOldCosts({ db }: Store, retentionDays: number, nowMs: number): Promise<boolean> {
  const keptMs = nowMs - retentionDays * DAY_MS;
  const counts = [
    await db
      .deleteFrom('budget_reservations')
      .where('reservation_id', 'in', (eb) =>
        eb
          .selectFrom('budget_reservations')
          .select('reservation_id')
          .where('is_charged', '=', 1)
          .where('expires_ms', '<', nowMs - SETTLE_MS)
          .limit(BATCH),
      )
      .executeTakeFirst(),
    await db
      .deleteFrom('budget_windows')
      .where('row_id', 'in', (eb) =>
        eb
          .selectFrom('budget_windows')
          .select('row_id')
          .where(({ or, and, eb: each }) =>
            or([
              each('ends_ms', '<', nowMs - ENDED_MS),
              // Rows without an end, such as the spending of a session that ended long ago.
              and([each('ends_ms', 'is', null), each('changed_ms', '<', keptMs), each('scope', '!=', '{}')]),
            ]),
          )
          .limit(BATCH),
      )
      .executeTakeFirst(),
    await db
      .deleteFrom('spending')
      .where('row_id', 'in', (eb) =>
        eb
          .selectFrom('spending')
          .select('row_id')
          .where('day', '<', new Date(keptMs).toISOString().slice(0, 10))
          .limit(BATCH),
      )
      .executeTakeFirst(),
  ];
  return counts.some(({ numDeletedRows }) => Number(numDeletedRows) === BATCH);
}
