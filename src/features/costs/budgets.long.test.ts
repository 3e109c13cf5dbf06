/** Budgets on real stores: reservations, charges and refusals. */

import assert from 'node:assert/strict';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { type Store, StoreFailure } from '../../platform/store/index.ts';
import { runRace } from '../../platform/store/testing/races.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import type { SpendRace, SpendRaceResult } from './testing/spend-racer.ts';
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

/** Builds a budget of that many millionths of a dollar. */
const budget = (microUsd: number, more: object = {}) => ({
  budgets: [{ name: 'b', limit_usd: microUsd / 1_000_000, ...more }],
});

async function readStatusFigures(costs: Costs, parts: object = {}) {
  const [first] = await costs.readStatus(buildSpendRequest(parts), 'toy');
  return [first?.spent_micro_usd, first?.reserved_micro_usd, first?.state];
}

const gone = () => Promise.reject(new StoreFailure('store_unavailable', 'It is gone.', '57P01'));

/** Wraps a store so that it fails while `works` is false. */
function createFragileStore(store: Store): { store: Store; works: boolean; trips: number } {
  const state = { works: true, trips: 0 };
  const transaction: Store['transaction'] = (work) => {
    state.trips += 1;
    return state.works ? store.transaction(work) : gone();
  };
  return Object.assign(state, { store: { ...store, db: store.db, transaction } });
}

withStores('budgets', (law) => {
  law('what a call may cost is put aside, and what it came to is booked', async ({ store, another }) => {
    const { costs, charges } = openTestCosts(async () => store, budget(1_000));
    const one = await reserveBudget(costs);
    assert.deepEqual(await readStatusFigures(costs), [0, 110, 'ok']);
    assert.deepEqual(await one.settle(buildUsage({ output_tokens: 3 })), {
      micro_usd: 40,
      is_assumed: false,
    });
    assert.deepEqual(await readStatusFigures(costs), [40, 0, 'ok']);
    const two = await reserveBudget(costs);
    assert.deepEqual(await two.settle(null), { micro_usd: 0, is_assumed: false });
    const other = openTestCosts(() => another(), budget(1_000));
    assert.deepEqual(await readStatusFigures(other.costs), [40, 0, 'ok']);
    assert.deepEqual(
      charges.map(({ cost, usage: { output_tokens } }) => [cost.micro_usd, output_tokens]),
      [[40, 3]],
    );
  });

  law('settled twice it is booked once, by the same process and by another', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, budget(1_000));
    const one = await reserveBudget(costs);
    const costsOfOne = await Promise.all([
      one.settle(buildUsage()),
      one.settle(buildUsage()),
      one.settle(null),
    ]);
    assert.deepEqual(
      costsOfOne.map(({ micro_usd }) => micro_usd),
      [110, 110, 110],
    );
    assert.deepEqual(await readStatusFigures(costs), [110, 0, 'ok']);
  });

  law('reached is reached, and what may come to more than is left is not begun', async ({ store }) => {
    const { costs, events, notices } = openTestCosts(async () => store, budget(220));
    const one = await reserveBudget(costs);
    const two = await reserveBudget(costs);
    const three = await expectRefusal(costs, { caller_id: 'key:agent' });
    assert.deepEqual(
      [three.cause, three.budget, three.resets_at_ms],
      ['exhausted', 'b', Date.UTC(2026, 11, 1)],
    );
    assert.equal(
      three.reason,
      'The budget `b` is used up: $0.00022 of $0.00022 are spent or reserved; the next period starts at 2026-12-01T00:00:00.000Z.',
    );
    await one.settle(buildUsage({ output_tokens: 9 }));
    await two.settle(buildUsage());
    const four = await expectRefusal(costs);
    assert.equal(four.cause, 'exceeds_remaining');
    assert.match(four.reason, /has \$0\.00001 left, and this call may cost \$0\.00011: request fewer tokens/);
    await reserveAndSettle(costs, { max_output_tokens: 0 }, { output_tokens: 0 });
    assert.equal((await expectRefusal(costs, { input_tokens: 0, max_output_tokens: 0 })).cause, 'exhausted');
    const reported = events.map(({ decision, action, policy_name, caller_id, metadata }) =>
      [decision, action, policy_name, caller_id, metadata.phase, metadata.budget_cause ?? ''].join(' '),
    );
    assert.deepEqual(reported, [
      'block block budget.b key:agent budget exhausted',
      'allow flag budget.b unknown budget_warning ',
      'block block budget.b unknown budget exceeds_remaining',
      'allow flag budget.b unknown budget_reached ',
      'block block budget.b unknown budget exhausted',
    ]);
    assert.equal(events[0]?.event_id, three.event_id);
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['refusal', 'warning', 'refusal', 'exhausted', 'refusal'],
    );
  });

  law('where a request sets no limit, the model’s own is put aside for each answer', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, budget(10_000));
    await reserveBudget(costs, { max_output_tokens: null });
    assert.deepEqual(await readStatusFigures(costs), [0, 1_010, 'ok']);
    await reserveBudget(costs, { max_output_tokens: null, choices: 3 });
    assert.deepEqual(await readStatusFigures(costs), [0, 1_010 + 3_010, 'ok']);
    await reserveBudget(costs, { max_output_tokens: 20, choices: 2 });
    assert.deepEqual(await readStatusFigures(costs), [0, 4_020 + 210, 'ok']);
    const capped = openTestCosts(async () => store, { ...budget(10_000), reserve_output_tokens_max: 5 });
    await reserveBudget(capped.costs, { max_output_tokens: null });
    assert.deepEqual(await readStatusFigures(costs), [0, 4_230 + 60, 'ok']);
  });

  law('a small budget admits calls without a limit on their output, until it is spent', async ({ store }) => {
    const big = {
      prices: [{ model: 'toy', usd_per_mtok: { input: 5, output: 25 }, max_output_tokens: 128_000 }],
    };
    const small = { ...big, ...budget(50_000) };
    const unlimited = { max_output_tokens: null };
    const { costs } = openTestCosts(async () => store, small);
    const exact = openTestCosts(async () => store, { ...small, reserve_unlimited_calls: 'model_limit' });
    const over = await expectRefusal(exact.costs, unlimited);
    assert.equal(over.cause, 'exceeds_remaining');
    assert.match(over.reason, /may cost \$3\.20005: /);
    const requested = await expectRefusal(costs, { max_output_tokens: 128_000 });
    assert.equal(requested.cause, 'exceeds_remaining', 'a limit that the call names is reserved as it is');
    const one = await reserveBudget(costs, unlimited);
    // 10 input tokens, and 1,024 of the model's 128,000 output tokens.
    assert.deepEqual(await readStatusFigures(costs), [0, 50 + 25_600, 'ok']);
    await one.settle(buildUsage({ output_tokens: 3_000 }));
    assert.deepEqual(
      await readStatusFigures(costs),
      [75_050, 0, 'exhausted'],
      'all is charged, beyond the reservation too',
    );
    assert.equal((await expectRefusal(costs, unlimited)).cause, 'exhausted');
    assert.equal((await expectRefusal(costs, { max_output_tokens: 1 })).cause, 'exhausted');
  });

  law(
    'tokens reserved for calls without a limit count for each answer, and are capped as all are',
    async ({ store }) => {
      const { costs } = openTestCosts(async () => store, { ...budget(10_000), typical_output_tokens: 20 });
      await reserveBudget(costs, { max_output_tokens: null, choices: 3 });
      assert.deepEqual(await readStatusFigures(costs), [0, 610, 'ok']);
      await reserveBudget(costs, { max_output_tokens: 50 });
      assert.deepEqual(await readStatusFigures(costs), [0, 610 + 510, 'ok']);
      const capped = openTestCosts(async () => store, {
        ...budget(10_000),
        reserve_unlimited_calls: 'model_limit',
        reserve_output_tokens_max: 5,
      });
      await reserveBudget(capped.costs, { max_output_tokens: null });
      assert.deepEqual(await readStatusFigures(costs), [0, 1_120 + 60, 'ok']);
    },
  );

  law('unknown models are reserved at an assumed price, or refused', async ({ store }) => {
    const unknown = { model: 'mystery', max_output_tokens: 100 };
    const { costs } = openTestCosts(async () => store, budget(1_000_000));
    const one = await reserveBudget(costs, unknown);
    assert.deepEqual(await readStatusFigures(costs), [0, 50 + 2_500, 'ok']);
    assert.deepEqual(await one.settle(buildUsage({ model: 'mystery', output_tokens: 100 })), {
      micro_usd: 50 + 2_500,
      is_assumed: true,
    });
    const strict = openTestCosts(
      async () => store,
      { unknown_models: 'refuse' },
      {
        resolveModels: (model) => (model === 'alias' ? ['toy', 'mystery'] : []),
      },
    );
    await reserveBudget(strict.costs);
    for (const model of ['mystery', 'alias', null]) {
      const over = await expectRefusal(strict.costs, { ...unknown, model });
      assert.deepEqual(
        [over.cause, over.budget, over.resets_at_ms],
        ['unknown_model', 'unknown_models', null],
      );
    }
    assert.deepEqual(
      strict.events.map(({ decision, policy_name }) => [decision, policy_name].join(' ')),
      Array(3).fill('block budget.unknown_models'),
    );
  });

  law('invented names and numbers of one caller delay no other', async ({ store }) => {
    const { costs, faults } = openTestCosts(async () => store, {
      budgets: [
        { name: 'b', limit_usd: 1_000_000_000, limit_tokens: 1_000_000_000_000 },
        { name: 'each', limit_usd: 1_000_000_000, scope: { model: 'each', user_id: 'each' } },
      ],
    });
    const wild = ['toy\u0000', '\ud800', 'x'.repeat(1_000_000), '__proto__', "'; drop table spending; --"];
    const many = { max_output_tokens: 1e300, input_tokens: Number.POSITIVE_INFINITY };
    const calls = wild.flatMap((model) => [
      reserveAndSettle(costs, { model, user_id: model, ...many }, { model, output_tokens: 1e300 }),
      reserveAndSettle(costs, { model, user_id: model }, { model }),
    ]);
    await Promise.all([...calls, reserveAndSettle(costs)]);
    assert.deepEqual(faults, []);
    const all = {
      since: '2026-01-01',
      until: '2026-12-31',
      tenant_ids: '*',
      agent_ids: '*',
      model: null,
    } as const;
    const lines = await costs.readSpending(all, ['model'], 100);
    assert.equal(
      lines.reduce((sum, { calls: each }) => sum + each, 0),
      11,
    );
    assert.equal(lines.length, 6);
    assert.ok(lines.every(({ model = '' }) => model.length <= 256));
    // The same holds if no budget applies to the call.
    const free = openTestCosts(async () => store, {});
    for (const model of wild) await reserveAndSettle(free.costs, { model, user_id: model }, { model });
    await free.costs.close();
    assert.deepEqual(free.faults, []);
  });

  law('budgets by the hundred, each in 24 steps, hold at once', async ({ store }) => {
    const budgets = Array.from({ length: 120 }, (_, at) => ({
      name: `b${at}`,
      limit_usd: 1,
      period: '24h',
      scope: { user_id: 'each' },
    }));
    const { costs } = openTestCosts(async () => store, { budgets });
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => reserveAndSettle(costs, { user_id: `user-${at}` })),
    );
    const standing = await costs.readStatus(buildSpendRequest({ user_id: 'user-7' }), 'toy');
    assert.equal(standing.length, 120);
    assert.ok(standing.every(({ spent_micro_usd }) => spent_micro_usd === 110));
  });

  law('tokens are limited too, alone or together with dollars', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, {
      budgets: [
        { name: 'tokens', limit_tokens: 40 },
        { name: 'both', limit_tokens: 1_000, limit_usd: 1 },
      ],
    });
    await reserveAndSettle(costs);
    await reserveBudget(costs);
    assert.deepEqual(
      [(await expectRefusal(costs)).budget, (await expectRefusal(costs)).cause],
      ['tokens', 'exhausted'],
    );
    const [tokens, both] = await costs.readStatus(buildSpendRequest(), 'toy');
    assert.deepEqual([tokens?.spent_tokens, tokens?.reserved_tokens], [20, 20]);
    assert.deepEqual([both?.spent_tokens, both?.reserved_micro_usd], [20, 110]);
  });

  law('a refusal by one budget puts nothing aside in another', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, {
      budgets: [
        { name: 'wide', limit_usd: 1 },
        { name: 'narrow', limit_usd: 0.0001 },
      ],
    });
    assert.equal((await expectRefusal(costs)).budget, 'narrow');
    const standing = await costs.readStatus(buildSpendRequest(), 'toy');
    assert.deepEqual(
      standing.map(({ reserved_micro_usd }) => reserved_micro_usd),
      [0, 0],
    );
  });

  law('each user has their own, and leaving the name out is one too', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, budget(110, { scope: { user_id: 'each' } }));
    for (const userId of ['ann', 'bob', null]) {
      await reserveAndSettle(costs, { user_id: userId });
      assert.equal((await expectRefusal(costs, { user_id: userId })).budget, 'b', String(userId));
    }
    const all = await costs.listStatuses('*');
    assert.deepEqual(all.map(({ scope }) => scope.user_id).sort(), ['', 'ann', 'bob']);
  });

  law('a scope is a name or a pattern, and all of it must fit', async ({ store }) => {
    const scope = { tenant_id: 'acme', agent_id: 'crawl*', model: 'TOY*' };
    const { costs } = openTestCosts(async () => store, budget(0, { scope }));
    const inside = { tenant_id: 'acme', agent_id: 'crawler-1' };
    await expectRefusal(costs, inside);
    const outside = [{ tenant_id: 'other' }, { agent_id: 'writer' }, { model: 'gpt-4o' }];
    for (const parts of outside) await reserveBudget(costs, { ...inside, ...parts });
    assert.equal(outside.length, 3);
  });

  law('a period ends, and the budget starts again', async ({ store }) => {
    const periods = { day: DAY, week: 2 * DAY, month: 10 * DAY, '24h': 25 * HOUR } as const;
    for (const [period, laterMs] of expectRows(4, Object.entries(periods))) {
      const { costs } = openTestCosts(async () => store, {
        budgets: [{ name: `by-${period}`, limit_usd: 0.00011, period }],
      });
      await reserveAndSettle(costs);
      const over = await expectRefusal(costs);
      assert.ok(
        over.resets_at_ms !== null &&
          over.resets_at_ms > TEST_NOW_MS &&
          over.resets_at_ms <= TEST_NOW_MS + laterMs,
      );
      await expectRefusal(costs, { now_ms: TEST_NOW_MS + laterMs / 3 });
      await reserveAndSettle(costs, { now_ms: TEST_NOW_MS + laterMs });
    }
    const { costs } = openTestCosts(async () => store, {
      budgets: [{ name: 'for-good', limit_usd: 0.00011, period: 'total' }],
    });
    await reserveAndSettle(costs);
    assert.equal((await expectRefusal(costs, { now_ms: TEST_NOW_MS + 5_000 * DAY })).resets_at_ms, null);
  });

  law('a period that rolls along gives back step by step', async ({ store }) => {
    const { costs } = openTestCosts(async () => store, budget(220, { period: '24h' }));
    await reserveAndSettle(costs);
    await reserveAndSettle(costs, { now_ms: TEST_NOW_MS + 12 * HOUR });
    assert.equal((await expectRefusal(costs, { now_ms: TEST_NOW_MS + 24 * HOUR })).cause, 'exhausted');
    await reserveAndSettle(costs, { now_ms: TEST_NOW_MS + 25 * HOUR });
    await expectRefusal(costs, { now_ms: TEST_NOW_MS + 36 * HOUR });
    await reserveAndSettle(costs, { now_ms: TEST_NOW_MS + 37 * HOUR });
  });

  law('a budget on trial refuses nothing, and says that it was reached', async ({ store }) => {
    const { costs, events } = openTestCosts(async () => store, budget(110, { enforcement: 'monitor' }));
    for (let call = 0; call < 3; call++) await reserveAndSettle(costs);
    assert.deepEqual(await readStatusFigures(costs), [330, 0, 'exhausted']);
    assert.deepEqual(
      events.map(({ action, metadata }) => [action, metadata.phase]),
      [['flag', 'budget_reached']],
    );
  });

  law(
    'a warning is given once in a period, and again where it could not be written down',
    async ({ store }) => {
      let full = true;
      const { costs, events } = openTestCosts(async () => store, budget(1_100, { warn_at: 0.1 }), {});
      const failing = openTestCosts(async () => store, budget(1_100, { warn_at: 0.1 }), {
        ports: () => ({
          policy: { hash: 'sha256:0' } as never,
          now_ms: () => TEST_NOW_MS,
          new_event_id: () => 'evt_1',
          record: async () => {
            if (full) throw new Error('the disk is full');
          },
        }),
      });
      await reserveAndSettle(failing.costs);
      assert.deepEqual([failing.notices.length, failing.faults.length], [0, 1]);
      full = false;
      for (let call = 0; call < 4; call++) await reserveAndSettle(costs);
      assert.deepEqual(
        events.map(({ metadata }) => metadata.phase),
        ['budget_warning'],
      );
      assert.deepEqual(events[0]?.metadata.budget_spent_micro_usd, 220);
    },
  );

  law('without a store nothing is sent that a budget holds back', async ({ store }) => {
    const away = openTestCosts(gone, budget(1_000_000));
    await assert.rejects(away.costs.reserve(buildSpendRequest()), StoreFailure);
    const trial = openTestCosts(gone, budget(1_000_000, { enforcement: 'monitor' }));
    await reserveBudget(trial.costs);
    // Without a budget, no call queries the store.
    const free = createFragileStore(store);
    const { costs } = openTestCosts(async () => free.store, budget(0, { scope: { agent_id: 'other' } }));
    const one = await reserveBudget(costs);
    await one.settle(buildUsage());
    assert.equal(free.trips, 0);
    const [sum] = await costs.readSpending(
      { since: '2026-11-21', until: '2026-11-21', tenant_ids: '*', agent_ids: '*', model: null },
      [],
      1,
    );
    assert.deepEqual([free.trips, sum?.calls, sum?.micro_usd], [1, 1, 110]);
  });

  law('what cannot be settled stays put aside, and is settled when the store is back', async ({ store }) => {
    const link = createFragileStore(store);
    const { costs, faults } = openTestCosts(async () => link.store, budget(1_000));
    const one = await reserveBudget(costs);
    link.works = false;
    assert.equal((await one.settle(buildUsage())).micro_usd, 110);
    assert.equal(faults.length, 1);
    assert.deepEqual(await readStatusFigures(costs), [0, 110, 'ok']);
    link.works = true;
    await costs.close();
    assert.deepEqual(await readStatusFigures(costs), [110, 0, 'ok']);
  });

  law('a call that goes to another model is booked with that one’s budgets', async ({ store }) => {
    const { costs } = openTestCosts(
      async () => store,
      {
        budgets: [
          { name: 'first', limit_usd: 1, scope: { model: 'toy' } },
          { name: 'second', limit_usd: 1, scope: { model: 'gpt-4o-mini' } },
        ],
      },
      { resolveModels: (model) => (model === 'fast' ? ['toy'] : []) },
    );
    const one = await reserveBudget(costs, { model: 'fast' });
    const standings = async () =>
      (await costs.listStatuses('*')).map(({ budget, spent_micro_usd, reserved_micro_usd }) =>
        [budget, spent_micro_usd, reserved_micro_usd].join(' '),
      );
    assert.deepEqual(await standings(), ['first 0 110', 'second 0 0']);
    await one.settle(
      buildUsage({ model: 'gpt-4o-mini-2024-07-18', input_tokens: 1_000, output_tokens: 100 }),
    );
    assert.deepEqual(await standings(), ['first 0 0', 'second 0 0']);
    await (await reserveBudget(costs, { model: 'fast' })).settle(
      buildUsage({ model: 'gpt-4o-mini', input_tokens: 1_000, output_tokens: 100 }),
    );
    assert.deepEqual((await standings()).sort(), ['first 0 0', 'second 210 0']);
  });

  law(
    'several processes spend what there is between them, and not a millionth more',
    async ({ settings, store }) => {
      const work = new URL('testing/spend-racer.ts', import.meta.url);
      const budgets = [
        { name: 'all', limit_usd: 0.01 },
        { name: 'rolling', limit_usd: 0.01, period: '1h' },
        { name: 'own', limit_usd: 1, scope: { user_id: 'each' } },
      ];
      const input: SpendRace = { budgets, tries: 40, output_tokens: 6 };
      const raced = await runRace<SpendRaceResult, SpendRace>({ settings, work, input });
      const { costs } = openTestCosts(async () => store, { budgets });
      const [all, rolling] = await costs.readStatus(buildSpendRequest(), 'toy');
      const booked = raced.reduce((sum, { micro_usd }) => sum + micro_usd, 0);
      assert.equal(all?.spent_micro_usd, booked);
      assert.equal(rolling?.spent_micro_usd, booked);
      const heldBack = all.spent_micro_usd + all.reserved_micro_usd;
      assert.ok(heldBack <= 10_000, `${heldBack} of 10000`);
      // The race has a point: several racers had calls accepted.
      assert.ok(raced.filter(({ calls }) => calls > 0).length > 1);
      // A slow racer can give a reservation back when the others have no try left. This process uses up the rest.
      for (let rest = 10_000 - heldBack; rest >= 110; rest -= 110)
        await reserveBudget(costs, { user_id: 'late' });
      // The accepted calls left no budget for one more.
      const [full] = await costs.readStatus(buildSpendRequest(), 'toy');
      const usedUp = full!.spent_micro_usd + full!.reserved_micro_usd;
      assert.ok(usedUp <= 10_000 && usedUp > 10_000 - 110, `${usedUp} of 10000`);
      assert.equal((await expectRefusal(costs, { user_id: 'late' })).budget, 'all');
    },
  );
});
