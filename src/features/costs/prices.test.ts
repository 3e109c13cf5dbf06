import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Schema, validate } from '@cfworker/json-schema';
import { priceFileSchema } from './price-file.ts';
import { buildAssumedPrice, clampUsage, computeCost, computeMaxCost, openPriceList } from './prices.ts';

const shipped = openPriceList([]);
const plain = { cache_read_tokens: 0, cache_write_tokens: 0 };

/** A name as a client or a provider may write it, then dollars per million input and output tokens. */
const NAMES: readonly (readonly [string, number, number])[] = [
  ['gpt-4o', 2.5, 10],
  ['gpt-4o-2024-08-06', 2.5, 10],
  ['gpt-4o-2024-05-13', 5, 15],
  ['GPT-4o-Mini', 0.15, 0.6],
  ['gpt-4o-mini-2024-07-18', 0.15, 0.6],
  ['openai/gpt-4o-mini', 0.15, 0.6],
  ['ft:gpt-4o-mini-2024-07-18:org::abc', 0.3, 1.2],
  ['claude-haiku-4-5-20251001', 1, 5],
  ['claude-haiku-4-5@20251001', 1, 5],
  ['claude-sonnet-4-20250514', 3, 15],
  ['claude-3-5-sonnet-latest', 3, 15],
  ['anthropic/claude-opus-4-5', 5, 25],
  ['models/gemini-2.5-pro', 1.25, 10],
  ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 1.04, 1.04],
  ['together/meta-llama/Llama-3.3-70B-Instruct-Turbo', 1.04, 1.04],
  ['text-embedding-3-small', 0.02, 0],
];

test('names that models go by find their price', () => {
  for (const [name, input, output] of NAMES) {
    const found = shipped.find(null, name);
    assert.deepEqual([found?.rates.input, found?.rates.output], [input, output], name);
    assert.match(found?.source ?? '', /^https:/);
  }
  assert.equal(NAMES.length, 16);
  const unknown = ['gpt-4', 'gpt-4o-', 'gpt-4ox', 'claude', 'my-model', '', 'gpt-4o/', '*'];
  assert.deepEqual(
    unknown.filter((name) => shipped.find(null, name) === null),
    unknown.slice(1),
  );
});

test('the first name that has a price counts', () => {
  assert.equal(shipped.find(null, 'no-such-model', 'gpt-4o')?.model, 'gpt-4o');
  assert.equal(shipped.find(null, 'gpt-4o-mini', 'gpt-4o')?.model, 'gpt-4o-mini');
  assert.equal(shipped.find(null), null);
});

test('prices of one’s own come first, in their order, and may be for one provider', () => {
  const prices = openPriceList([
    { model: 'gpt-4o*', provider: 'azure-*', usd_per_mtok: { input: 3, output: 12 } },
    { model: 'GPT-4o', usd_per_mtok: { input: 2, output: 8, cache_read: 1 } },
    { model: '*', provider: 'local', usd_per_mtok: { input: 0, output: 0 } },
  ]);
  const input = (provider: string | null, model: string) => prices.find(provider, model)?.rates.input;
  assert.equal(input('azure-eu', 'gpt-4o'), 3);
  assert.equal(input('openai', 'gpt-4o'), 2);
  assert.equal(input('openai', 'gpt-4o-mini'), 0.15);
  assert.equal(input('local', 'llama3.2'), 0);
  assert.equal(input('openai', 'llama3.2'), undefined);
  assert.deepEqual(prices.find('openai', 'gpt-4o')?.rates, {
    input: 2,
    output: 8,
    cache_read: 1,
    cache_write: 2,
    cache_write_1h: 2,
  });
});

test('what a call costs, in whole millionths and rounded up', () => {
  const haiku = shipped.find(null, 'claude-haiku-4-5')!;
  const of = (parts: object) =>
    computeCost(haiku, clampUsage({ input_tokens: 0, output_tokens: 0, ...plain, ...parts }));
  assert.equal(of({}), 0);
  assert.equal(of({ input_tokens: 1_000, output_tokens: 100 }), 1_500);
  assert.equal(of({ input_tokens: 1_000, cache_read_tokens: 600, cache_write_tokens: 100 }), 300 + 60 + 125);
  const hour = { input_tokens: 1_000, cache_write_tokens: 300, cache_write_1h_tokens: 200 };
  assert.equal(of(hour), 700 + 125 + 400);
  assert.equal(of({ ...hour, cache_write_1h_tokens: 900 }), 700 + 600);
  assert.equal(of({ input_tokens: 3, cache_read_tokens: 3 }), 1);
  const cheap = openPriceList([{ model: 'x', usd_per_mtok: { input: 0.1, output: 0.7 } }]).find(null, 'x')!;
  for (const [tokens, microUsd] of [
    [10, 1],
    [30, 3],
    [70, 7],
    [71, 8],
  ] as const)
    assert.equal(
      computeCost(cheap, { input_tokens: tokens, output_tokens: 0, ...plain }),
      microUsd,
      String(tokens),
    );
});

test('a long call has other prices as a whole', () => {
  const pro = shipped.find(null, 'gemini-2.5-pro')!;
  const of = (inputTokens: number) =>
    computeCost(pro, { input_tokens: inputTokens, output_tokens: 1_000, ...plain });
  assert.equal(of(200_000), 250_000 + 10_000);
  assert.equal(of(200_001), 500_003 + 15_000);
});

test('the maximum cost of a call uses the most expensive rate', () => {
  const haiku = shipped.find(null, 'claude-haiku-4-5')!;
  assert.equal(computeMaxCost(haiku, 1_000, 100), 1_250 + 500);
  const usage = { input_tokens: 1_000, output_tokens: 100, cache_read_tokens: 0, cache_write_tokens: 1_000 };
  assert.equal(computeCost(haiku, usage), computeMaxCost(haiku, 1_000, 100));
  const hour = { ...usage, cache_write_1h_tokens: 1_000 };
  assert.equal(computeCost(haiku, hour), computeMaxCost(haiku, 1_000, 100, true));
  assert.equal(computeCost(haiku, hour), 2_000 + 500);
});

test('usage that cannot be is counted as far as it can', () => {
  const wild = { input_tokens: 10, output_tokens: -5, cache_read_tokens: 50, cache_write_tokens: 7 };
  assert.deepEqual(clampUsage(wild), {
    input_tokens: 10,
    output_tokens: 0,
    cache_read_tokens: 10,
    cache_write_tokens: 0,
  });
  const endless = clampUsage({ input_tokens: Number.POSITIVE_INFINITY, output_tokens: Number.NaN, ...plain });
  assert.deepEqual([endless.input_tokens, endless.output_tokens], [1_000_000_000, 0]);
  assert.equal(computeCost(buildAssumedPrice({ input: 5, output: 25 }, 1), endless), 5_000_000_000);
});

test('the shipped file fits the schema of price files: each model once, dated, with its source', () => {
  const file = JSON.parse(readFileSync('data/model-prices.json', 'utf8'));
  const checked = validate(file, priceFileSchema as unknown as Schema);
  assert.deepEqual([checked.valid, checked.errors], [true, []]);
  const wrong = { prices: [{ ...file.prices[0], input: 1 }] };
  assert.equal(validate(wrong, priceFileSchema as unknown as Schema).valid, false);
  const seen = new Set<string>();
  for (const { model, usd_per_mtok, above, source, as_of } of file.prices) {
    assert.match(source, /^https:\/\/[^\s]+$/);
    assert.ok(as_of === new Date(as_of).toISOString().slice(0, 10), as_of);
    assert.ok(model === model.toLowerCase() && !seen.has(model), model);
    seen.add(model);
    const { input, output, cache_read = input, cache_write = input } = usd_per_mtok;
    assert.ok(input > 0 && output >= 0 && input <= 1_000 && output <= 1_000, model);
    assert.ok(cache_read <= input, model);
    assert.ok(cache_write >= input && cache_write <= 2 * input, model);
    if (above !== undefined)
      assert.ok(above.usd_per_mtok.input >= input && above.usd_per_mtok.output >= output, model);
    for (const rate of Object.values<number>(usd_per_mtok))
      assert.equal(rate, Math.round(rate * 1e6) / 1e6, model);
  }
  assert.ok(seen.size > 300, String(seen.size));
});
