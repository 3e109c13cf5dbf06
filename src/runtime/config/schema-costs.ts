import { buildEnum, buildSection, Type } from '../../core/schema.ts';

const usd = Type.Number({ minimum: 0, maximum: 1_000_000 });

/** A name pattern: case-sensitive, with `*` for any sequence of characters. */
const pattern = Type.String({ minLength: 1, maxLength: 256 });

const rates = buildSection(
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
const priceSchema = buildSection({
  model: { ...pattern, description: 'The model; a name, or a pattern with `*`. Case does not count.' },
  provider: Type.Optional({
    ...pattern,
    description: 'The provider: a name from `proxy.providers`, or a pattern (default: any).',
  }),
  usd_per_mtok: rates,
  above: Type.Optional(
    buildSection(
      {
        input_tokens: Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Applies above this number of input tokens.',
        }),
        usd_per_mtok: rates,
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

const budget = buildSection({
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
    'x-expects': 'must be a name of letters, digits, `_`, `.` and `-`',
    description: 'Name of the budget in answers and in the audit log, `budget.NAME`.',
  }),
  scope: buildSection(
    {
      tenant_id: Type.Optional({ ...pattern, description: 'The tenant.' }),
      agent_id: Type.Optional({ ...pattern, description: 'The agent.' }),
      session_id: Type.Optional({ ...pattern, description: 'The session.' }),
      user_id: Type.Optional({
        ...pattern,
        description: 'The user on whose behalf the agent acts (`x-service-user`).',
      }),
      model: Type.Optional({
        ...pattern,
        description: 'The model, as the client calls it or as it is sent on.',
      }),
    },
    {
      description:
        'The calls that the budget covers, by name, by pattern with `*`, or `each` for a budget per name. An omitted field matches any.',
      default: {},
    },
  ),
  limit_usd: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'US dollars that may be spent in a period; 0 refuses all calls.',
    }),
  ),
  limit_tokens: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000_000,
      description:
        'Tokens, in and out together. At least one of the two limits is required; either one ends the budget.',
    }),
  ),
  period: Type.String({
    pattern: '^(day|week|month|total|[1-9][0-9]{0,4}[smhdw])$',
    maxLength: 6,
    default: 'month',
    'x-expects': 'must be `day`, `week`, `month`, `total`, or a duration such as `24h`',
    description:
      'Period of the budget. It restarts at midnight UTC, on Monday, on the first of the month, or never. A duration is a rolling window of 24 steps.',
  }),
  warn_at: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.8,
    description: 'Fraction of a limit at which a warning is recorded in the audit log, once in a period.',
  }),
  enforcement: buildEnum(['enforce', 'monitor'], {
    default: 'enforce',
    description: '`enforce` refuses calls above the limit; `monitor` only records that it was reached.',
  }),
});

/** `cost`: prices and budgets of calls to model providers. */
export const costSchema = buildSection(
  {
    enabled: Type.Boolean({ default: true, description: 'Counts spending.' }),
    price_file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'A YAML or JSON file with a list `prices` as below, relative to this file. Its prices come after those of `prices` and before those that come with the program.',
      }),
    ),
    prices: Type.Array(priceSchema, {
      maxItems: 10_000,
      default: [],
      description: 'Your own prices. The first matching entry applies.',
    }),
    unknown_models: buildEnum(['assume', 'refuse'], {
      default: 'assume',
      description: 'Models without a price: count them at `assumed_usd_per_mtok`, or refuse calls to them.',
    }),
    assumed_usd_per_mtok: {
      ...rates,
      default: { input: 5, output: 25 },
      description: 'The price of models without one, in US dollars for a million tokens.',
    },
    assumed_output_tokens: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 128_000,
      description: 'Output tokens of one call if neither the request nor the price sets a limit.',
    }),
    reserve_unlimited_calls: buildEnum(['typical', 'model_limit'], {
      default: 'typical',
      description:
        'Output that a call reserves if it names no limit on it. `typical`: `typical_output_tokens`, so that small budgets admit usual calls and a call may pass its budget by what it writes beyond that. `model_limit`: all that the model can write, so that no call passes a budget.',
    }),
    typical_output_tokens: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 1_024,
      description:
        'Output tokens that a call without a limit reserves for each of its answers, at most the limit of the model.',
    }),
    reserve_output_tokens_max: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description:
          'Output tokens that one call reserves at most, even if it names a higher limit. Without it a call reserves the limit that it names; with it more calls fit below a budget, and one that writes more may pass it.',
      }),
    ),
    reservation_ttl: Type.String({
      pattern: '^[1-9][0-9]{0,4}[smhd]$',
      maxLength: 6,
      default: '1h',
      'x-expects': 'must be a duration: a whole number and one of `s`, `m`, `h`, `d`, such as `1h`',
      description: 'Time after which an unsettled reservation is counted as spent.',
    }),
    retention_days: Type.Integer({
      minimum: 1,
      maximum: 36_500,
      default: 400,
      description: 'Days for which spending is kept.',
    }),
    budgets: Type.Array(budget, { maxItems: 1_000, default: [], description: 'Budgets.' }),
  },
  {
    description:
      'Prices of calls to model providers, and budgets; see [guide](../how-to/limit-costs.md). A change needs a restart.',
    default: {},
  },
);

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
