import type { Static } from 'typebox';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import type { ValueProblem } from '../../runtime/config/parse-config-value.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';
import { patternSchema, priceSchema, ratesSchema, readPriceFile } from './price-file.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly cost: Static<typeof costSchema>;
  }
}

const budget = buildSection({
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
    'x-expects': 'must be a name of letters, digits, `_`, `.` and `-`',
    description: 'Name of the budget in answers and in the audit log, `budget.NAME`.',
  }),
  scope: buildSection(
    {
      tenant_id: Type.Optional({ ...patternSchema, description: 'The tenant.' }),
      agent_id: Type.Optional({ ...patternSchema, description: 'The agent.' }),
      session_id: Type.Optional({ ...patternSchema, description: 'The session.' }),
      user_id: Type.Optional({
        ...patternSchema,
        description: 'The user on whose behalf the agent acts (`x-service-user`).',
      }),
      model: Type.Optional({
        ...patternSchema,
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
const costSchema = buildSection(
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
      ...ratesSchema,
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

/** The shortest rolling period. Its steps are a few seconds long. */
const ROLLING_MS_MIN = 60_000;

function findBudgetProblems({ enabled, budgets }: Static<typeof costSchema>): readonly ValueProblem[] {
  if (!enabled && budgets.length > 0) {
    const message = 'cannot be kept while nothing is counted; set `cost.enabled`, or take them out';
    return [{ steps: ['budgets'], message }];
  }
  return budgets.flatMap(({ name, limit_usd, limit_tokens, period }, i) => {
    const here = ['budgets', i];
    if (budgets.findIndex((other) => other.name === name) < i)
      return [{ steps: [...here, 'name'], message: 'is the name of another budget' }];
    if (limit_usd === undefined && limit_tokens === undefined)
      return [{ steps: here, message: 'must have `limit_usd` or `limit_tokens`' }];
    if (/^\d/.test(period) && parseDurationMs(period) < ROLLING_MS_MIN)
      return [{ steps: [...here, 'period'], message: 'is shorter than a minute' }];
    return [];
  });
}

export const costSection = defineConfigSection({
  name: 'cost',
  after: 'mcp',
  schema: costSchema,
  findProblems: findBudgetProblems,
  resolvePaths: (cost, absolute) =>
    cost.price_file === undefined ? cost : { ...cost, price_file: absolute(cost.price_file) },
  readFiles: async (cost) => {
    if (cost.price_file === undefined) return { ok: true, settings: cost, files: [] };
    const read = await readPriceFile(cost.price_file);
    if (!read.ok) return read;
    const settings = { ...cost, prices: [...cost.prices, ...read.prices] };
    return { ok: true, settings, files: [cost.price_file] };
  },
});
