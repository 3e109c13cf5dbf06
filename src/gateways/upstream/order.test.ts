import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OrderingContext, openLatencyTracker, orderTargets } from './order.ts';
import { buildRoutingTable, type UpstreamTarget } from './routing-table.ts';
import { parseProxySettings } from './testing/test-upstreams.ts';

/** Targets of providers `a`, `b` and `c` with the given properties. */
function buildTargets(...stated: readonly object[]): UpstreamTarget[] {
  const providers = stated.map((one, at) => ({ name: 'abc'[at], family: 'openai', ...one }));
  return buildRoutingTable(parseProxySettings({ providers }))
    .findTargetGroups({ wire: 'openai.chat', model: 'm' })
    .flat();
}

/** Returns a deterministic sequence of numbers from 0 up to, not including, 1. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = Number((BigInt(state) * 48_271n) % 2_147_483_647n);
    return state / 2_147_483_647;
  };
}

const by = (
  strategy: OrderingContext['strategy'],
  parts: Partial<OrderingContext> = {},
): OrderingContext => ({
  strategy,
  affinity: null,
  speeds: openLatencyTracker(),
  ports: { random: () => 0.5 },
  ...parts,
});

const names = (ordered: readonly UpstreamTarget[]): string =>
  ordered.map(({ provider }) => provider.name).join('');

test('lower priorities come first, and equal ones as they are written', () => {
  assert.equal(names(orderTargets(buildTargets({}, {}, {}), by('priority'))), 'abc');
  for (const strategy of ['priority', 'weighted', 'cost', 'latency'] as const)
    assert.match(
      names(orderTargets(buildTargets({ priority: 2 }, {}, { priority: 1 }), by(strategy))),
      /^bca$/,
      strategy,
    );
});

test('by weight each is first as often as its weight says', () => {
  const random = createRandom();
  const three = buildTargets({ weight: 6 }, { weight: 3 }, { weight: 1 });
  const first = { a: 0, b: 0, c: 0 } as Record<string, number>;
  for (let count = 0; count < 3_000; count += 1)
    first[names(orderTargets(three, by('weighted', { ports: { random } })))[0]!]! += 1;
  for (const [name, share] of [
    ['a', 1_800],
    ['b', 900],
    ['c', 300],
  ] as const)
    assert.ok(Math.abs(first[name]! - share) < 150, JSON.stringify(first));
});

test('one conversation keeps its provider, and many are spread', () => {
  const three = buildTargets({ weight: 2 }, { weight: 1 }, { weight: 1 });
  const first = (affinity: string) => names(orderTargets(three, by('weighted', { affinity })));
  const seen = new Map<string, number>();
  for (let count = 0; count < 2_000; count += 1) {
    const order = first(`conversation ${count}`);
    assert.equal(first(`conversation ${count}`), order);
    seen.set(order[0]!, (seen.get(order[0]!) ?? 0) + 1);
  }
  assert.ok(Math.abs(seen.get('a')! - 1_000) < 120 && seen.get('b')! > 380 && seen.get('c')! > 380);
});

test('by cost the cheapest comes first, and what has no price last', () => {
  const priced = buildTargets({}, { price: { input: 4, output: 8 } }, { price: { input: 1, output: 20 } });
  assert.equal(names(orderTargets(priced, by('cost'))), 'bca');
  const priceOf = (provider: string, model: string) => (provider === 'a' && model === 'm' ? 1 : null);
  assert.equal(names(orderTargets(priced, by('cost', { ports: { random: () => 0.5, priceOf } }))), 'abc');
});

test('by latency the fastest comes first, what is not known before it, and now and then another one', () => {
  const three = buildTargets({}, {}, {});
  const speeds = openLatencyTracker();
  const [a, b, c] = three as [UpstreamTarget, UpstreamTarget, UpstreamTarget];
  speeds.record(a, 300);
  speeds.record(c, 100);
  assert.equal(names(orderTargets(three, by('latency', { speeds }))), 'bca');
  speeds.record(b, 200);
  assert.equal(names(orderTargets(three, by('latency', { speeds }))), 'cba');
  for (let count = 0; count < 20; count += 1) speeds.record(c, 900);
  assert.equal(names(orderTargets(three, by('latency', { speeds }))), 'bac', 'the average follows');
  const random = createRandom();
  let others = 0;
  for (let count = 0; count < 2_000; count += 1)
    if (names(orderTargets(three, by('latency', { speeds, ports: { random } })))[0] !== 'b') others += 1;
  assert.ok(others > 20 && others < 120, `${others}`);
});
