import type { WrittenPrice, WrittenRates } from '../../src/features/costs/price-file.ts';

/** A model in `model_prices_and_context_window.json` of litellm; rates are US dollars per token. */
export type CatalogueEntry = Readonly<Record<string, unknown>>;

export interface PriceUpdate {
  readonly prices: readonly WrittenPrice[];
  /** The models with new figures, and the models that the catalogue does not list. */
  readonly changed: readonly string[];
  readonly unlisted: readonly string[];
}

/** The beginning of a provider's names in the catalogue, by the host of its price page. */
const NAME_PREFIXES: Readonly<Record<string, string>> = {
  'ai.google.dev': 'gemini/',
  'api-docs.deepseek.com': 'deepseek/',
  'api.x.ai': 'xai/',
  'cohere.com': '',
  'developers.openai.com': '',
  'docs.anthropic.com': '',
  'docs.fireworks.ai': 'fireworks_ai/',
  'docs.voyageai.com': 'voyage/',
  'docs.z.ai': 'zai/',
  'groq.com': 'groq/',
  'mistral.ai': 'mistral/',
  'platform.claude.com': '',
  'platform.kimi.ai': 'moonshot/',
  'www.together.ai': 'together_ai/',
};

/** Returns the prices with the figures of the catalogue, dated `as_of`. A model that it does not list keeps its entry. */
export function updatePrices(
  prices: readonly WrittenPrice[],
  catalogue: Readonly<Record<string, CatalogueEntry>>,
  asOf: string,
): PriceUpdate {
  const byName = new Map(Object.entries(catalogue).map(([name, entry]) => [name.toLowerCase(), entry]));
  const changed: string[] = [];
  const unlisted: string[] = [];
  const updated = prices.map((price) => {
    const entry = byName.get(buildCatalogueName(price));
    const read = entry === undefined ? null : readEntry(price, entry, asOf);
    if (read === null) unlisted.push(price.model);
    else if (JSON.stringify({ ...read, as_of: price.as_of }) !== JSON.stringify(price))
      changed.push(price.model);
    return read ?? price;
  });
  return { prices: updated, changed, unlisted };
}

function buildCatalogueName({ model, source = '' }: WrittenPrice): string {
  const prefix = NAME_PREFIXES[URL.parse(source)?.host ?? ''];
  if (prefix === undefined)
    throw new Error(`${model}: add the host of ${source} to scripts/prices/update.ts`);
  return `${prefix}${model.replace(/\*$/, '')}`;
}

function readEntry(price: WrittenPrice, entry: CatalogueEntry, asOf: string): WrittenPrice | null {
  const usdPerMtok = readRates(entry, '');
  if (usdPerMtok === null) return null;
  const threshold = Object.keys(entry)
    .map((key) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(key)?.[1])
    .find((each) => each !== undefined);
  const over = threshold === undefined ? null : readRates(entry, `_above_${threshold}k_tokens`);
  const { max_output_tokens = price.max_output_tokens } = entry as { max_output_tokens?: number };
  return {
    model: price.model,
    usd_per_mtok: usdPerMtok,
    ...(over !== null && { above: { input_tokens: Number(threshold) * 1_000, usd_per_mtok: over } }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    source: price.source!,
    as_of: asOf,
  };
}

function readRates(entry: CatalogueEntry, ending: string): WrittenRates | null {
  const read = (name: string): number | undefined => {
    const rate = entry[`${name}${ending}`];
    return typeof rate === 'number' ? Math.round(rate * 1e12) / 1e6 : undefined;
  };
  const input = read('input_cost_per_token');
  const output = read('output_cost_per_token');
  if (input === undefined || output === undefined || input <= 0) return null;
  const cacheRead = read('cache_read_input_token_cost');
  const cacheWrite = read('cache_creation_input_token_cost');
  const cacheWrite1h = read('cache_creation_input_token_cost_above_1hr');
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cache_read: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(cacheWrite1h !== undefined && { cache_write_1h: cacheWrite1h }),
  };
}

/** Returns the text of a price file with one entry per line, so that a change shows as one line. */
export function formatPriceFile(prices: readonly WrittenPrice[]): string {
  const lines = prices.map((price) => `    ${formatValue(price)}`);
  return `{\n  "prices": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${formatValue(each)}`);
  return `{ ${members.join(', ')} }`;
}
