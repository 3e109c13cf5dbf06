import { basename } from 'node:path';
import { buildSection, Type } from '../../core/schema.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import { parseConfigValue } from '../../runtime/config/parse-config-value.ts';
import { buildConfigProblem } from '../../runtime/config/problem-text.ts';
import { readMapping } from '../../runtime/config/read-mapping.ts';

const usd = Type.Number({ minimum: 0, maximum: 1_000_000 });

/** A name pattern: case-sensitive, with `*` for any sequence of characters. */
export const patternSchema = Type.String({ minLength: 1, maxLength: 256 });

export const ratesSchema = buildSection(
  {
    input: { ...usd, description: 'Price of input tokens.' },
    output: { ...usd, description: 'Price of output tokens.' },
    cache_read: Type.Optional({
      ...usd,
      description: 'Price of tokens read from the provider’s cache (default: `input`).',
    }),
    cache_write: Type.Optional({
      ...usd,
      description: 'Price of tokens written to the provider’s cache (default: `input`).',
    }),
    cache_write_1h: Type.Optional({
      ...usd,
      description: 'Price of tokens that the cache keeps for an hour (default: `cache_write`).',
    }),
  },
  { description: 'US dollars for a million tokens.' },
);

/** One price, in `cost.prices` or in the file of `cost.price_file`. */
export const priceSchema = buildSection({
  model: { ...patternSchema, description: 'The model; a name, or a pattern with `*`. Case does not count.' },
  provider: Type.Optional({
    ...patternSchema,
    description: 'The provider: a name from `proxy.providers`, or a pattern (default: any).',
  }),
  usd_per_mtok: ratesSchema,
  above: Type.Optional(
    buildSection(
      {
        input_tokens: Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Applies above this number of input tokens.',
        }),
        usd_per_mtok: ratesSchema,
      },
      { description: 'Prices for a whole call above a number of input tokens.' },
    ),
  ),
  max_output_tokens: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'Output tokens of one call at most. Reserved if a request sets no limit itself.',
    }),
  ),
  source: Type.Optional(
    Type.String({ maxLength: 1_024, description: 'Source of the figures. Stored for reference only.' }),
  ),
  as_of: Type.Optional(
    Type.String({
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      'x-expects': 'must be a day, `2026-01-31`',
      description: 'Date of the figures. Stored for reference only.',
    }),
  ),
});

/** A price file: that of `cost.price_file`, and the shipped `data/model-prices.json`. */
export const priceFileSchema = buildSection({
  prices: Type.Array(priceSchema, { maxItems: 10_000 }),
});

/** A price as a user writes it, in `cost.prices` or in a price file. */
export interface WrittenPrice {
  readonly model: string;
  readonly provider?: string;
  readonly usd_per_mtok: WrittenRates;
  readonly above?: { readonly input_tokens: number; readonly usd_per_mtok: WrittenRates };
  readonly max_output_tokens?: number;
  readonly source?: string;
  readonly as_of?: string;
}

export interface WrittenRates {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
}

type PricesRead =
  | { readonly ok: true; readonly prices: readonly WrittenPrice[] }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

/** Reads a price file. Problems name it without its folder. */
export async function readPriceFile(path: string): Promise<PricesRead> {
  const label = basename(path);
  const read = await readMapping(path, label);
  if (!read.ok) return read;
  const { value, problems } = parseConfigValue(read.value, priceFileSchema, { env: {}, secrets: new Map() });
  if (problems.length === 0)
    return { ok: true, prices: (value as { readonly prices: readonly WrittenPrice[] }).prices };
  return {
    ok: false,
    problems: problems.map(({ steps, message }) =>
      buildConfigProblem(label, steps, message, read.lineOf(steps)),
    ),
  };
}
