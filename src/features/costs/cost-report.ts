import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { formatCsvField } from '../../operations/cli-kit/format-csv.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import { escapeControls, type Terminal } from '../../operations/cli-kit/terminal.ts';
import type { dashboardCostBudgets } from './budget-operations.ts';
import { buildAssumedPrice, openPriceList } from './prices.ts';
import type { Price, Rates } from './types.ts';

/** A line of a report, in the format of the operation. */
export interface CostLine {
  readonly day?: string;
  readonly tenant?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly cost: number;
  readonly calls: number;
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cache_read: number;
    readonly cache_write: number;
  };
  readonly estimated_calls: number;
  readonly assumed_calls: number;
}

/** The status of a budget, in the format of the operations. */
export type BudgetLine = Static<typeof dashboardCostBudgets.output>['budgets'][number];

/** Formats an amount, such as `$12.35`, with more decimals below one dollar. */
export function formatMoney(usd: number): string {
  return `$${usd.toFixed(Math.abs(usd) >= 1 || usd === 0 ? 2 : 6)}`;
}

/** Formats budgets as a table for people. */
export function formatBudgets(budgets: readonly BudgetLine[]): string[] {
  const head = ['BUDGET', 'FOR', 'STATE', 'SPENT', 'LIMIT', 'LEFT', 'PERIOD', 'RESETS AT'];
  return formatTable(
    head,
    budgets.map((one) => [
      one.budget,
      Object.entries(one.scope)
        .map(([field, value]) => `${field.replace(/_id$/, '')} ${value || '(none)'}`)
        .join(', ') || 'all',
      one.enforcement === 'monitor' ? `${one.state} (monitor mode)` : one.state,
      formatAmounts(
        one.limit_usd === null ? null : one.spent_usd,
        one.limit_tokens === null ? null : one.spent_tokens,
      ),
      formatAmounts(one.limit_usd, one.limit_tokens),
      formatAmounts(one.remaining_usd, one.remaining_tokens),
      one.period,
      one.resets_at ?? 'never',
    ]),
  );
}

function formatAmounts(usd: number | null, tokens: number | null): string {
  return [usd === null ? null : formatMoney(usd), tokens === null ? null : `${tokens} tokens`]
    .filter((each) => each !== null)
    .join(', ');
}

const COLUMNS: readonly (readonly [name: string, of: (line: CostLine) => string])[] = [
  ['calls', ({ calls }) => String(calls)],
  ['input_tokens', ({ tokens }) => String(tokens.input)],
  ['output_tokens', ({ tokens }) => String(tokens.output)],
  ['cache_read_tokens', ({ tokens }) => String(tokens.cache_read)],
  ['cache_write_tokens', ({ tokens }) => String(tokens.cache_write)],
  ['estimated_calls', ({ estimated_calls }) => String(estimated_calls)],
  ['assumed_calls', ({ assumed_calls }) => String(assumed_calls)],
  ['cost_usd', ({ cost }) => cost.toFixed(6)],
];

function formatCells(words: readonly string[], lines: readonly CostLine[]): string[][] {
  return lines.map((line) => [
    ...words.map((word) => escapeControls(String(line[word as keyof CostLine] ?? ''))),
    ...COLUMNS.map(([, of]) => of(line)),
  ]);
}

/** Formats a report as comma-separated values. */
export function formatCostCsv(words: readonly string[], lines: readonly CostLine[]): string[] {
  const rows = [listColumns(words), ...formatCells(words, lines)];
  return rows.map((cells) => cells.map(formatCsvField).join(','));
}

/** Formats a report as a Markdown table. */
export function formatCostMarkdown(words: readonly string[], lines: readonly CostLine[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = listColumns(words);
  const cells = formatCells(words, lines).map((line) =>
    line.map((cell) => cell.replace(/[\\|`<*_[\]]/g, '\\$&')),
  );
  return [head, head.map((_, at) => (at < words.length ? '---' : '---:')), ...cells].map(row);
}

function listColumns(words: readonly string[]): string[] {
  return [...words, ...COLUMNS.map(([name]) => name)];
}

/** A price in the format of a price file. */
type PriceEntry = Omit<Price, 'rates' | 'above' | 'provider' | 'max_output_tokens' | 'source' | 'as_of'> & {
  readonly provider?: string;
  readonly usd_per_mtok: Rates;
  readonly above?: { readonly input_tokens: number; readonly usd_per_mtok: Rates };
  readonly max_output_tokens?: number;
  readonly source?: string;
  readonly as_of?: string;
};

/** Returns the active prices, or the price that applies to a model. */
export async function findPrices(
  terminal: Terminal,
  configPath: string | undefined,
  model: string | undefined,
  { loadConfig }: CommandPorts,
): Promise<{ readonly found: readonly PriceEntry[]; readonly lines: readonly string[] }> {
  const { cost } = await loadConfig(terminal, configPath, 'leave');
  const prices = openPriceList(cost.prices);
  const known = model === undefined ? prices.all : [prices.find(null, model)].filter((each) => each !== null);
  const isUnknown = known.length === 0;
  const found = isUnknown
    ? [buildAssumedPrice(cost.assumed_usd_per_mtok, cost.assumed_output_tokens)]
    : known;
  const lines = formatTable(
    ['MODEL', 'IN', 'OUT', 'CACHE READ', 'CACHE WRITE', 'MOST OUT', 'AS OF', 'SOURCE'],
    found.map((price) => [
      price.provider === null ? price.model : `${price.model} at ${price.provider}`,
      ...[price.rates.input, price.rates.output, price.rates.cache_read, price.rates.cache_write].map(String),
      String(price.max_output_tokens ?? ''),
      price.as_of ?? '',
      price.source ?? (isUnknown ? 'assumed: no price is known' : 'cost.prices'),
    ]),
  );
  return { found: found.map(buildPriceEntry), lines };
}

function buildPriceEntry({
  model,
  provider,
  rates,
  above,
  max_output_tokens,
  source,
  as_of,
}: Price): PriceEntry {
  return {
    model,
    ...(provider !== null && { provider }),
    usd_per_mtok: rates,
    ...(above !== null && { above: { input_tokens: above.input_tokens, usd_per_mtok: above.rates } }),
    ...(max_output_tokens !== null && { max_output_tokens }),
    ...(source !== null && { source }),
    ...(as_of !== null && { as_of }),
  };
}
