import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonSource } from '../../../core/json/source.ts';
import { buildTestPolicy, compileParts } from '../../../core/testing/policies.ts';
import type { Crossing, Json } from '../../../core/types/index.ts';
import { NO_PRINCIPAL } from '../../../core/types/index.ts';
import { runRace } from '../../../platform/store/testing/races.ts';
import { withStores } from '../../../platform/store/testing/stores.ts';
import { buildExampleCrossing } from '../../../server/testing/examples.ts';
import { deleteExpiredTotals } from './delete-totals.ts';
import { findTotals } from './find-totals.ts';
import { loadTotals } from './index.ts';
import { buildCap, pay } from './testing/pay.ts';
import { addToSpans, sumSpans } from './time-spans.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;
const ALLOWED = 'default.allow';

const as = (userId: string): Partial<Crossing> => ({
  principal: {
    ...NO_PRINCIPAL,
    user: { user_id: userId, user_email: null, groups: [], scopes: null },
  },
});

withStores('totals', (law) => {
  law('a sum counts earlier calls and this one', async ({ store, another }) => {
    const cap = buildCap('sum("pay.amount", "24h", "agent") > 500');
    const second = await another();
    assert.equal(await pay(store, cap, { amount: 499.5 }), ALLOWED);
    assert.equal(await pay(second, cap, { amount: 0.5 }), ALLOWED);
    assert.equal(await pay(store, cap, { amount: 0.1 }), 'cap');
    // A blocked call is not added.
    assert.equal(await pay(second, cap, { amount: 0 }), ALLOWED);
    assert.equal(await pay(store, cap, { amount: 1 }, { agent_id: 'other' }), ALLOWED);
  });

  law('sums stay exact where doubles do not', async ({ store }) => {
    const cap = buildCap('sum("pay.amount", "24h", "tenant") > 0.3');
    for (const amount of [0.1, 0.2]) assert.equal(await pay(store, cap, { amount }), ALLOWED);
    const text = '{"amount":0.0000000000000000000001}';
    const value = JSON.parse(text) as Json;
    const content = {
      kind: 'json',
      value,
      source: parseJsonSource(text, { depth_max: 9, nodes_max: 9 })!,
    } as const;
    assert.equal(await pay(store, cap, value, { content }), 'cap');
  });

  law('a count is of allowed calls in its window', async ({ store }) => {
    const cap = buildCap('count("pay", "1h", "session") > 2');
    const at = (ms: number) => ({ now_ms: NOW + ms });
    for (const ms of [0, 1_000]) assert.equal(await pay(store, cap, {}, at(ms)), ALLOWED);
    assert.equal(await pay(store, cap, {}, at(2_000)), 'cap');
    assert.equal(await pay(store, cap, {}, { ...at(2_000), session_id: 'other' }), ALLOWED);
    assert.equal(await pay(store, cap, {}, at(HOUR - 10_000)), 'cap');
    assert.equal(await pay(store, cap, {}, at(HOUR + 60_000)), ALLOWED);
  });

  law('a user’s calls add up, unproved calls have no result', async ({ store }) => {
    const cap = buildCap('sum("pay.amount", "24h", "user") > 10');
    assert.equal(await pay(store, cap, { amount: 6 }, { ...as('ann'), agent_id: 'a' }), ALLOWED);
    assert.equal(await pay(store, cap, { amount: 6 }, { ...as('ann'), agent_id: 'b' }), 'cap');
    assert.equal(await pay(store, cap, { amount: 6 }, { ...as('bob'), agent_id: 'b' }), ALLOWED);
    assert.equal(await pay(store, cap, { amount: 1 }), 'cap');
    const claimed = { principal: { ...NO_PRINCIPAL, claimed_user: 'bob' } };
    assert.equal(await pay(store, cap, { amount: 1 }, claimed), 'cap');
  });

  law(
    'values that are no number block, and spoil the sum if another rule lets them pass',
    async ({ store }) => {
      const cap = buildCap('sum("pay.amount", "24h", "tenant") > 10', { agents: ['strict'] });
      const strict = { agent_id: 'strict' };
      for (const amount of ['5', '0x10', -5, null])
        assert.equal(await pay(store, cap, { amount }, strict), 'cap');
      assert.equal(await pay(store, cap, {}, strict), 'cap');
      assert.equal(await pay(store, cap, { amount: 5 }, strict), ALLOWED);
      assert.equal(await pay(store, cap, { amount: '5' }, { agent_id: 'lax' }), ALLOWED);
      assert.equal(await pay(store, cap, { amount: 1 }, strict), 'cap');
      const later = { ...strict, now_ms: NOW + 30 * HOUR };
      assert.equal(await pay(store, cap, { amount: 1 }, later), ALLOWED);
    },
  );

  law('a commit fails if another call was added', async ({ store, another }) => {
    const cap = buildCap('sum("pay.amount", "24h", "agent") > 10');
    const crossing = buildExampleCrossing('', { boundary: 'action', phase: 'request', tool: 'PAY' });
    const call = { ...crossing, content: { kind: 'json', value: { amount: 2 } } as const };
    const needs = findTotals(call, cap);
    assert.deepEqual(
      needs.map(({ includes_call }) => includes_call),
      [true],
    );
    const unchanged = { content: null } as Parameters<Awaited<ReturnType<typeof loadTotals>>['commit']>[0];
    for (const _round of ['without a row', 'with a row']) {
      const one = await loadTotals(store, call, needs);
      const other = await loadTotals(await another(), call, needs);
      assert.deepEqual(one.stored, other.stored);
      assert.deepEqual([await one.commit(unchanged), await other.commit(unchanged)], [true, false]);
    }
    assert.equal((await loadTotals(store, call, needs)).stored[0]?.value, '4');
  });

  law('processes that race never exceed the sum', async ({ settings, store }) => {
    const made = await runRace<{ allowed: number; busy: number }, { tries: number }>({
      settings,
      work: new URL('./testing/pay.ts', import.meta.url),
      input: { tries: 12 },
    });
    const total = made.reduce((sum, { allowed }) => sum + allowed, 0);
    const busy = made.reduce((sum, each) => sum + each.busy, 0);
    assert.ok(total <= 15 && total + busy >= 15, JSON.stringify(made));
    const cap = buildCap('sum("pay.amount", "1h", "agent") > 1.5');
    const left = 15 - total;
    for (let at = 0; at < left; at += 1) assert.equal(await pay(store, cap, { amount: 0.1 }), ALLOWED);
    assert.equal(await pay(store, cap, { amount: 0.1 }), 'cap');
  });

  law('expired totals are deleted', async ({ store }) => {
    const cap = buildCap('count("pay", "1h", "agent") > 5');
    await pay(store, cap, {}, { now_ms: NOW });
    assert.equal(await deleteExpiredTotals(store, NOW + HOUR, 10), 0);
    assert.equal(await deleteExpiredTotals(store, NOW + 3 * HOUR, 10), 1);
    assert.equal(await deleteExpiredTotals(store, NOW + 3 * HOUR, 10), 0);
  });
});

test('a window forgets spans and keeps few', () => {
  let spans = '[]';
  for (let minute = 0; minute < 3 * 1_440; minute += 1)
    spans = addToSpans(spans, 24 * HOUR, NOW + minute * 60_000, '0.01');
  const end = NOW + 3 * 1_440 * 60_000;
  assert.ok((JSON.parse(spans) as unknown[]).length <= 502);
  const sum = Number(sumSpans(spans, 24 * HOUR, end));
  assert.ok(sum >= 14.4 && sum <= 14.45, `${sum}`);
  assert.equal(sumSpans(spans, 24 * HOUR, end + 25 * HOUR), '0');
  assert.equal(sumSpans(addToSpans(spans, 24 * HOUR, end, null), 24 * HOUR, end), null);
});

test('a total that no rule can read is refused', () => {
  const rows: readonly (readonly [when: string, problem: RegExp])[] = [
    ['sum("refund.amount", "24h", "user") > 5', /`tools` of the rule names/],
    ['sum("pay", "24h", "user") > 5', /`tools` of the rule names/],
    ['sum("pay.", "24h", "user") > 5', /`tools` of the rule names/],
    ['count("pay.amount", "24h", "user") > 5', /`tools` of the rule does not name/],
    ['sum("pay.amount", "a day", "user") > 5', /no duration/],
    ['sum("pay.amount", "400d", "user") > 5', /no duration/],
    ['sum("pay.amount", "24h", "planet") > 5', /is not `user`, `agent`, `session` or `tenant`/],
    ['sum("pay.amount", "24h", tool) > 5', /texts in quotes/],
    ['sum("pay.amount", "24h") > 5', /no matching overload|texts in quotes/],
    ['sum("pay.amount", "24h", "user") * 2 > 5', /computes with/],
  ];
  for (const [when, problem] of rows) {
    const rule = {
      name: 'r',
      boundary: 'action',
      action: 'block',
      condition: { tools: ['pay', 'x.*'], when },
    };
    assert.match(compileParts({ rules: [rule] }).problems[0]?.message ?? 'accepted', problem, when);
  }
  const longest = { tools: ['pay', 'pay.out'], when: 'sum("pay.out.amount", "1h", "agent") > 5' };
  const [compiled] = buildTestPolicy({
    rules: [{ name: 'r', boundary: 'action', action: 'block', condition: longest }],
  }).rules;
  assert.deepEqual(
    compiled!.reads!.totals.map(({ tool, argument, window_ms }) => [tool, argument, window_ms]),
    [['pay.out', 'amount', HOUR]],
  );
});
