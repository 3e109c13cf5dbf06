import { matchesName } from '../../core/tags.ts';
import type { WireUsage } from '../../core/wire/wire-format.ts';
import type { WrittenPrice, WrittenRates } from '../../runtime/config/schema-costs.ts';
import { PRICES_OF_VENDORS } from './price-table.ts';
import { PRICES_OF_OTHERS } from './price-table-open.ts';
import type { Price, PriceGroup, PriceRow, Rates, RowRates } from './types.ts';

/** Finds what models cost. */
export interface PriceList {
  /**
   * The price of the first of the names that has one; `null` where none has. `provider` is the configured name of
   * where it is asked, `null` where that is not known yet.
   */
  readonly find: (provider: string | null, ...models: readonly string[]) => Price | null;
  /** The prices of one's own, then those that come with the program. */
  readonly all: readonly Price[];
}

/** No model has a longer name, in UTF-16 units; what callers make up may have any length. */
export const MODEL_NAME_UNITS_MAX = 256;
/** Names that are looked up again and again are kept; callers can make up any number of others. */
const KNOWN_MAX = 2_000;

/** The user's prices, in their order, then those that come with the program, where a longer pattern goes first. */
export function openPriceList(own: readonly WrittenPrice[]): PriceList {
  const written = own.map(parsePrice);
  const shipped = GROUPS.flatMap(parseGroup).flatMap(addDatedNames);
  const exact = new Map(
    shipped.filter(({ model }) => !model.includes('*')).map((each) => [each.model, each]),
  );
  const patterns = shipped
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
    all: [...written, ...GROUPS.flatMap(parseGroup)],
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

/** A price that names a provider fits that one, and where it is not known yet whom is asked. */
function isForProvider(price: Price, provider: string | null): boolean {
  return price.provider === null || provider === null || matchesName(price.provider, provider);
}

/** The name itself, then without what stands before a `/`: `openai/gpt-4o`, `models/gemini-2.5-pro`. */
function listNames(model: string): string[] {
  const parts = model.toLowerCase().split('/', SEGMENTS_MAX);
  return parts.map((_, at) => parts.slice(at).join('/'));
}

const SEGMENTS_MAX = 8;

/** US dollars for a million tokens of which three quarters go in; `null` where nobody knows a price. */
export function openBlendedPrices(
  own: readonly WrittenPrice[],
): (provider: string, model: string) => number | null {
  const prices = openPriceList(own);
  return (provider, model) => {
    const found = prices.find(provider, model);
    return found === null ? null : (3 * found.rates.input + found.rates.output) / 4;
  };
}

/** The price of a model nobody knows. */
export function buildAssumedPrice(rates: WrittenRates, max_output_tokens: number): Price {
  return parsePrice({ model: '*', usd_per_mtok: rates, max_output_tokens });
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

const GROUPS = [...PRICES_OF_VENDORS, ...PRICES_OF_OTHERS];

function parseGroup({ source, as_of, cache_write_1h_of_input = 0, rows }: PriceGroup): Price[] {
  return rows.map((row) => ({ ...parseRow(row, cache_write_1h_of_input), source, as_of }));
}

/** A model of the table stands for its dated names too: `-2026-01-31`, `-20260131`, `@20260131`, `-latest`. */
function addDatedNames(price: Price): Price[] {
  if (price.model.includes('*')) return [price];
  return ['', '-20*', '@20*', '-latest'].map((ending) => ({ ...price, model: `${price.model}${ending}` }));
}

function parseRow(row: PriceRow, hour_of_input: number): Price {
  const [model, input, output, read, write, max_output_tokens, above] = row;
  const four = (...[input, output, read, write]: RowRates): Rates => {
    const cache_write = write ?? input;
    const cache_write_1h = Math.max(cache_write, input * hour_of_input);
    return { input, output, cache_read: read ?? input, cache_write, cache_write_1h };
  };
  const [over, ...dearer] = above ?? [0, 0, 0, 0, 0];
  return {
    model,
    provider: null,
    rates: four(input, output, read, write),
    above: above === undefined ? null : { input_tokens: over, rates: four(...dearer) },
    max_output_tokens,
    source: null,
    as_of: null,
  };
}

/** More tokens than any call has; what a provider says beyond that is cut. */
const TOKENS_MAX = 1_000_000_000;

/** Usage as it can be counted: whole numbers from 0, and of the tokens in no more from and for the cache than there are. */
export function clampUsage(usage: WireUsage): WireUsage {
  const input_tokens = clampTokens(usage.input_tokens);
  const cache_read_tokens = Math.min(clampTokens(usage.cache_read_tokens), input_tokens);
  const cache_write_tokens = Math.min(
    clampTokens(usage.cache_write_tokens),
    input_tokens - cache_read_tokens,
  );
  const cache_write_1h_tokens = Math.min(clampTokens(usage.cache_write_1h_tokens ?? 0), cache_write_tokens);
  return {
    input_tokens,
    output_tokens: clampTokens(usage.output_tokens),
    cache_read_tokens,
    cache_write_tokens,
    ...(cache_write_1h_tokens > 0 && { cache_write_1h_tokens }),
  };
}

/** A number of tokens that can be counted: whole, from 0 to a thousand million. */
export function clampTokens(tokens: number): number {
  return tokens > 0 ? Math.min(Math.ceil(tokens), TOKENS_MAX) : 0;
}

/** What a call cost, in whole millionths of a US dollar, rounded up. Takes usage that is sound. */
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

/** What a call may cost at most: as if all that goes in were of the dearest kind that it may be. */
export function computeMaxCost(
  price: Price,
  input_tokens: number,
  output_tokens: number,
  keeps_an_hour = false,
): number {
  const { input, output, cache_read, cache_write, cache_write_1h } = selectRates(price, input_tokens);
  return sumMicroUsd([
    [clampTokens(input_tokens), Math.max(input, cache_read, keeps_an_hour ? cache_write_1h : cache_write)],
    [clampTokens(output_tokens), output],
  ]);
}

function selectRates({ rates, above }: Price, input_tokens: number): Rates {
  return above !== null && input_tokens > above.input_tokens ? above.rates : rates;
}

/** Prices have six decimals at most, so that all is exact in millionths of a millionth. */
function sumMicroUsd(parts: readonly (readonly [tokens: number, rate: number])[]): number {
  let picos = 0n;
  for (const [tokens, rate] of parts) picos += BigInt(tokens) * BigInt(Math.round(rate * 1_000_000));
  return Number((picos + 999_999n) / 1_000_000n);
}
