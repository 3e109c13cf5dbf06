/** What nobody settled, and what nobody asks about any more. */
import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { bookExpired, forgetCosts } from './expiry.ts';
import { ask, held, NOW, openBooks, refused, spend, usage } from './testing/books.ts';
import type { Costs } from './types.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMIT = { budgets: [{ name: 'b', limit_usd: 0.001 }] };

async function stands(costs: Costs) {
  const [one] = await costs.standing(ask(), 'toy');
  const [sum] = await costs.spending(
    { since: '2026-01-01', until: '2026-12-31', tenant_ids: '*', agent_ids: '*', model: null },
    [],
    1,
  );
  return [one?.spent_micro_usd, one?.reserved_micro_usd, sum?.micro_usd, sum?.calls, sum?.estimated_calls];
}

withStores('calls that nobody settles', (law) => {
  law('count as they were put aside once their time is over, and not before', async ({ store }) => {
    const { costs } = openBooks(async () => store, LIMIT);
    await held(costs);
    await spend(costs, {}, { output_tokens: 0 });
    assert.equal(await bookExpired(store, NOW + HOUR - 1), false);
    assert.deepEqual(await stands(costs), [10, 110, 10, 1, 0]);
    assert.equal(await bookExpired(store, NOW + HOUR), false);
    assert.deepEqual(await stands(costs), [120, 0, 120, 2, 1]);
    await bookExpired(store, NOW + 2 * HOUR);
    assert.deepEqual(await stands(costs), [120, 0, 120, 2, 1]);
  });

  law('are put right by whoever settles them after all, once', async ({ store }) => {
    const { costs } = openBooks(async () => store, LIMIT);
    const [one, two] = [await held(costs), await held(costs)];
    await bookExpired(store, NOW + HOUR);
    assert.deepEqual(await stands(costs), [220, 0, 220, 2, 2]);
    await one.settle(usage({ output_tokens: 1 }));
    assert.deepEqual(await stands(costs), [130, 0, 130, 2, 1]);
    await two.settle(null);
    assert.deepEqual(await stands(costs), [20, 0, 20, 1, 0]);
  });

  law('hold the budget all the same', async ({ store }) => {
    const { costs } = openBooks(async () => store, { budgets: [{ name: 'b', limit_usd: 0.00011 }] });
    await held(costs);
    assert.equal((await refused(costs)).cause, 'exhausted');
    await bookExpired(store, NOW + HOUR);
    assert.equal((await refused(costs)).cause, 'exhausted');
  });

  law('are forgotten long after, with periods that have ended and days that are old', async ({ store }) => {
    const { costs } = openBooks(async () => store, {
      budgets: [
        { name: 'day', limit_usd: 1, period: 'day' },
        { name: 'good', limit_usd: 1, period: 'total' },
        { name: 'session', limit_usd: 1, period: 'total', scope: { session_id: 'each' } },
      ],
    });
    await held(costs);
    await bookExpired(store, NOW + HOUR);
    await spend(costs, { now_ms: NOW + 3 * DAY });
    const counts = async () => {
      const [windows, reservations, days] = await Promise.all([
        store.db.selectFrom('budget_windows').select('budget').orderBy('budget').execute(),
        store.db.selectFrom('budget_reservations').select('reservation_id').execute(),
        store.db.selectFrom('spending').select('day').orderBy('day').execute(),
      ]);
      return [windows.map(({ budget }) => budget).join(' '), reservations.length, days.length];
    };
    assert.deepEqual(await counts(), ['day day good session', 1, 2]);
    await forgetCosts(store, 400, NOW + DAY);
    assert.deepEqual(await counts(), ['day day good session', 1, 2]);
    await forgetCosts(store, 400, NOW + 3 * DAY);
    assert.deepEqual(await counts(), ['day good session', 0, 2]);
    await forgetCosts(store, 400, NOW + 402 * DAY);
    assert.deepEqual(await counts(), ['good session', 0, 1]);
    await forgetCosts(store, 400, NOW + 404 * DAY);
    // What is for all of a total budget is never forgotten: it would begin anew.
    assert.deepEqual(await counts(), ['good', 0, 0]);
  });
});
