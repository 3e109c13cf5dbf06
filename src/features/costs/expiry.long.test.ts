/** Reservations that were never settled, and the deletion of old rows. */
import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { chargeExpiredReservations, deleteOldCosts } from './expiry.ts';
import {
  buildSpendRequest,
  buildUsage,
  expectRefusal,
  openTestCosts,
  reserveAndSettle,
  reserveBudget,
  TEST_NOW_MS,
} from './testing/test-costs.ts';
import type { Costs } from './types.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMIT = { budgets: [{ name: 'b', limit_usd: 0.001 }] };

async function readFigures(costs: Costs) {
  const [one] = await costs.readStatus(buildSpendRequest(), 'toy');
  const [sum] = await costs.readSpending(
    { since: '2026-01-01', until: '2026-12-31', tenant_ids: '*', agent_ids: '*', model: null },
    [],
    1,
  );
  return [one?.spent_micro_usd, one?.reserved_micro_usd, sum?.micro_usd, sum?.calls, sum?.estimated_calls];
}

withStores('reservations that are never settled', (law) => {
  law('count as they were put aside once their time is over, and not before', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, LIMIT);
    await reserveBudget(costs);
    await reserveAndSettle(costs, {}, { output_tokens: 0 });
    assert.equal(await chargeExpiredReservations(store, TEST_NOW_MS + HOUR - 1), false);
    assert.deepEqual(await readFigures(costs), [10, 110, 10, 1, 0]);
    assert.equal(await chargeExpiredReservations(store, TEST_NOW_MS + HOUR), false);
    assert.deepEqual(await readFigures(costs), [120, 0, 120, 2, 1]);
    await chargeExpiredReservations(store, TEST_NOW_MS + 2 * HOUR);
    assert.deepEqual(await readFigures(costs), [120, 0, 120, 2, 1]);
  });

  law('are corrected by the process that settles them after all, once', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, LIMIT);
    const [one, two] = [await reserveBudget(costs), await reserveBudget(costs)];
    await chargeExpiredReservations(store, TEST_NOW_MS + HOUR);
    assert.deepEqual(await readFigures(costs), [220, 0, 220, 2, 2]);
    await one.settle(buildUsage({ output_tokens: 1 }));
    assert.deepEqual(await readFigures(costs), [130, 0, 130, 2, 1]);
    await two.settle(null);
    assert.deepEqual(await readFigures(costs), [20, 0, 20, 1, 0]);
  });

  law('hold the budget all the same', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, { budgets: [{ name: 'b', limit_usd: 0.00011 }] });
    await reserveBudget(costs);
    assert.equal((await expectRefusal(costs)).cause, 'exhausted');
    await chargeExpiredReservations(store, TEST_NOW_MS + HOUR);
    assert.equal((await expectRefusal(costs)).cause, 'exhausted');
  });

  law('are forgotten long after, with periods that have ended and days that are old', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, {
      budgets: [
        { name: 'day', limit_usd: 1, period: 'day' },
        { name: 'good', limit_usd: 1, period: 'total' },
        { name: 'session', limit_usd: 1, period: 'total', scope: { session_id: 'each' } },
      ],
    });
    await reserveBudget(costs);
    await chargeExpiredReservations(store, TEST_NOW_MS + HOUR);
    await reserveAndSettle(costs, { now_ms: TEST_NOW_MS + 3 * DAY });
    const counts = async () => {
      const [windows, reservations, days] = await Promise.all([
        store.db.selectFrom('budget_windows').select('budget').orderBy('budget').execute(),
        store.db.selectFrom('budget_reservations').select('reservation_id').execute(),
        store.db.selectFrom('spending').select('day').orderBy('day').execute(),
      ]);
      return [windows.map(({ budget }) => budget).join(' '), reservations.length, days.length];
    };
    assert.deepEqual(await counts(), ['day day good session', 1, 2]);
    await deleteOldCosts(store, 400, TEST_NOW_MS + DAY);
    assert.deepEqual(await counts(), ['day day good session', 1, 2]);
    await deleteOldCosts(store, 400, TEST_NOW_MS + 3 * DAY);
    assert.deepEqual(await counts(), ['day good session', 0, 2]);
    await deleteOldCosts(store, 400, TEST_NOW_MS + 402 * DAY);
    assert.deepEqual(await counts(), ['good session', 0, 1]);
    await deleteOldCosts(store, 400, TEST_NOW_MS + 404 * DAY);
    // The row that all callers share in a budget of the period `total` is never deleted, because the budget would
    // restart.
    assert.deepEqual(await counts(), ['good', 0, 0]);
  });
});
