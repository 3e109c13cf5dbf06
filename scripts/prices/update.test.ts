import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { WrittenPrice } from '../../src/features/costs/price-file.ts';
import { formatPriceFile, updatePrices } from './update.ts';

const haiku: WrittenPrice = {
  model: 'claude-haiku-4-5',
  usd_per_mtok: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2 },
  max_output_tokens: 64_000,
  source: 'https://platform.claude.com/docs/en/about-claude/pricing',
  as_of: '2026-11-21',
};
const gemini: WrittenPrice = {
  model: 'gemini-2.5-pro',
  usd_per_mtok: { input: 9, output: 9 },
  source: 'https://ai.google.dev/gemini-api/docs/pricing',
  as_of: '2025-10-18',
};

test('prices take the figures of the catalogue, and keep their own where it has none', () => {
  const catalogue = {
    'gemini/gemini-2.5-pro': {
      input_cost_per_token: 1.25e-6,
      output_cost_per_token: 1e-5,
      cache_read_input_token_cost: 1.25e-7,
      input_cost_per_token_above_200k_tokens: 2.5e-6,
      output_cost_per_token_above_200k_tokens: 1.5e-5,
      max_output_tokens: 65_536,
    },
    'gemini-2.5-pro': { input_cost_per_token: 7e-6, output_cost_per_token: 7e-6 },
  };
  const { prices, changed, unlisted } = updatePrices([haiku, gemini], catalogue, '2026-12-01');
  assert.deepEqual([changed, unlisted], [['gemini-2.5-pro'], ['claude-haiku-4-5']]);
  assert.deepEqual(prices, [
    haiku,
    {
      model: 'gemini-2.5-pro',
      usd_per_mtok: { input: 1.25, output: 10, cache_read: 0.125 },
      above: { input_tokens: 200_000, usd_per_mtok: { input: 2.5, output: 15 } },
      max_output_tokens: 65_536,
      source: gemini.source,
      as_of: '2026-12-01',
    },
  ]);
  assert.deepEqual(updatePrices(prices, catalogue, '2026-12-02').changed, []);
});

test('an entry without a known price page is an error', () => {
  const unknown = { ...haiku, source: 'https://example.com/prices' };
  assert.throws(() => updatePrices([unknown], {}, '2026-12-01'), /claude-haiku-4-5: add the host/);
});

test('the shipped file is in the format that an update writes, and each entry has a known price page', () => {
  const text = readFileSync('data/model-prices.json', 'utf8');
  const { prices } = JSON.parse(text) as { prices: readonly WrittenPrice[] };
  assert.equal(formatPriceFile(prices), text);
  assert.equal(updatePrices(prices, {}, '2026-12-01').unlisted.length, prices.length);
});
