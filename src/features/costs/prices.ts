import { readFileSync } from 'node:fs';
import { matchesName } from '../../core/tags.ts';
import type { WireUsage } from '../../core/wire/wire-format.ts';
import type { WrittenPrice, WrittenRates } from './price-file.ts';
import type { Price, Rates } from './types.ts';

/** Finds the prices of models. */
export interface PriceList {
  /**
   * Returns the price of the first name that has one, or `null`. `provider` is the configured provider name, or `null`
   * while it is not known.
   */
  readonly find: (provider: string | null, ...models: readonly string[]) => Price | null;
  /** The configured prices, then the shipped ones. */
  readonly all: readonly Price[];
}

/** The longest model name that is looked up, in UTF-16 units. Callers can send names of any length. */
export const MODEL_NAME_UNITS_MAX = 256;
/** The number of cached lookups. Callers can send any number of names. */
const KNOWN_MAX = 2_000;

/** The shipped prices: three folders up, in `src` and in `dist` alike. */
const SHIPPED_FILE = new URL('../../../data/model-prices.json', import.meta.url);

/** Opens the configured prices in their order, then the shipped ones, in which a longer pattern wins. */
export function openPriceList(own: readonly WrittenPrice[]): PriceList {
  const written = own.map(parsePrice);
  const shipped = readShippedPrices();
  const dated = shipped.flatMap(addDatedNames);
  const exact = new Map(dated.filter(({ model }) => !model.includes('*')).map((each) => [each.model, each]));
  const patterns = dated
    .filter(({ model }) => model.includes('*'))
    .toSorted((a, b) => b.model.length - a.model.length);
  const known = new Map<string, Price | null>();

  const look = (provider: string | null, model: string): Price | null => {
    for (const name of listNames(model)) {
      const fits = (each: Price) => matchesName(each.model, name);
      const mine = written.find((each) => fits(each) && isForProvider(each, provider));
      const found = mine ?? exact.get(name) ?? patterns.find(fits);
      if (found !== undefined) return found;
    }
    return null;
  };
  return {
    all: [...written, ...shipped],
    find: (provider, ...models) => {
      for (const model of models) {
        if (model.length > MODEL_NAME_UNITS_MAX) continue;
        const key = JSON.stringify([provider, model]);
        let found = known.get(key);
        if (found === undefined) {
          found = look(provider, model);
          if (known.size >= KNOWN_MAX) known.clear();
          known.set(key, found);
        }
        if (found !== null) return found;
      }
      return null;
    },
  };
}

/** Returns whether a price applies to a provider. An unknown provider matches every price. */
function isForProvider(price: Price, provider: string | null): boolean {
  return price.provider === null || provider === null || matchesName(price.provider, provider);
}

/** Returns the name, then the name without each prefix before a `/`: `openai/gpt-4o`, `models/gemini-2.5-pro`. */
function listNames(model: string): string[] {
  const parts = model.toLowerCase().split('/', SEGMENTS_MAX);
  return parts.map((_, at) => parts.slice(at).join('/'));
}

const SEGMENTS_MAX = 8;

/** Returns the price for models without a known price. */
export function buildAssumedPrice(rates: WrittenRates, maxOutputTokens: number): Price {
  return parsePrice({ model: '*', usd_per_mtok: rates, max_output_tokens: maxOutputTokens });
}

function readShippedPrices(): readonly Price[] {
  const { prices } = JSON.parse(readFileSync(SHIPPED_FILE, 'utf8')) as { prices: readonly WrittenPrice[] };
  return prices.map(parsePrice);
}

function parsePrice(written: WrittenPrice): Price {
  const { above } = written;
  return {
    model: written.model.toLowerCase(),
    provider: written.provider ?? null,
    rates: parseRates(written.usd_per_mtok),
    above:
      above === undefined
        ? null
        : { input_tokens: above.input_tokens, rates: parseRates(above.usd_per_mtok) },
    max_output_tokens: written.max_output_tokens ?? null,
    source: written.source ?? null,
    as_of: written.as_of ?? null,
  };
}

function parseRates(written: WrittenRates): Rates {
  const { input, output, cache_read = input, cache_write = input, cache_write_1h = cache_write } = written;
  return { input, output, cache_read, cache_write, cache_write_1h };
}

/** Adds the dated names of a model: `-2026-01-31`, `-20260131`, `@20260131`, `-latest`. */
function addDatedNames(price: Price): Price[] {
  if (price.model.includes('*')) return [price];
  return ['', '-20*', '@20*', '-latest'].map((ending) => ({ ...price, model: `${price.model}${ending}` }));
}

/** An upper bound for the tokens of a call. Larger reported numbers are cut. */
const TOKENS_MAX = 1_000_000_000;

/** Returns usage as whole numbers from 0, with cache tokens limited to the input tokens. */
export function clampUsage(usage: WireUsage): WireUsage {
  const inputTokens = clampTokens(usage.input_tokens);
  const cacheReadTokens = Math.min(clampTokens(usage.cache_read_tokens), inputTokens);
  const cacheWriteTokens = Math.min(clampTokens(usage.cache_write_tokens), inputTokens - cacheReadTokens);
  const cacheWrite1hTokens = Math.min(clampTokens(usage.cache_write_1h_tokens ?? 0), cacheWriteTokens);
  return {
    input_tokens: inputTokens,
    output_tokens: clampTokens(usage.output_tokens),
    cache_read_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens,
    ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens }),
  };
}

/** Returns a whole number of tokens from 0 to 1,000,000,000. */
export function clampTokens(tokens: number): number {
  return tokens > 0 ? Math.min(Math.ceil(tokens), TOKENS_MAX) : 0;
}

/** Returns the cost of a call in whole millionths of a US dollar, rounded up. Expects clamped usage. */
export function computeCost(price: Price, usage: WireUsage): number {
  const {
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens = 0,
  } = usage;
  const { input, output, cache_read, cache_write, cache_write_1h } = selectRates(price, input_tokens);
  return sumMicroUsd([
    [input_tokens - cache_read_tokens - cache_write_tokens, input],
    [cache_read_tokens, cache_read],
    [cache_write_tokens - cache_write_1h_tokens, cache_write],
    [cache_write_1h_tokens, cache_write_1h],
    [output_tokens, output],
  ]);
}

/** Returns the maximum cost of a call: all input is charged at the highest rate that may apply. */
export function computeMaxCost(
  price: Price,
  inputTokens: number,
  outputTokens: number,
  keepsAnHour = false,
): number {
  const { input, output, cache_read, cache_write, cache_write_1h } = selectRates(price, inputTokens);
  return sumMicroUsd([
    [clampTokens(inputTokens), Math.max(input, cache_read, keepsAnHour ? cache_write_1h : cache_write)],
    [clampTokens(outputTokens), output],
  ]);
}

function selectRates({ rates, above }: Price, inputTokens: number): Rates {
  return above !== null && inputTokens > above.input_tokens ? above.rates : rates;
}

/** Adds in millionths of a millionth. Prices have at most six decimals, so the sum is exact. */
function sumMicroUsd(parts: readonly (readonly [tokens: number, rate: number])[]): number {
  let picos = 0n;
  for (const [tokens, rate] of parts) picos += BigInt(tokens) * BigInt(Math.round(rate * 1_000_000));
  return Number((picos + 999_999n) / 1_000_000n);
}
