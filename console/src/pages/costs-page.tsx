import { useMemo } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useOperation } from '../api/use-operation.ts';
import { Badge, Tags } from '../components/badge.tsx';
import type { DataColumn } from '../components/data-column.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { RankedBars } from '../components/ranked-bars.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount, formatNumber, formatUsd, StatTile } from '../components/stat-tile.tsx';
import { Time } from '../components/time.tsx';
import { TimeChart } from '../components/time-chart.tsx';

type Summary = OperationOutput<'dashboardCostSummary'>;
type Budget = OperationOutput<'dashboardCostBudgets'>['budgets'][number];

const PERIODS = [
  ['today', 'Today'],
  ['last_7d', 'Last 7 days'],
  ['last_30d', 'Last 30 days'],
  ['this_month', 'This month'],
  ['last_90d', 'Last 90 days'],
] as const;
const REFRESH_MS = 30_000;
const NONE: never[] = [];
const DAY_MS = 86_400_000;
const DAYS_MAX = 400;

/** Shows spending on model calls by model, tenant, agent and day, and what is left of each budget. */
export function CostsPage() {
  const [query, change] = useAddressQuery();
  const period = PERIODS.find(([each]) => each === query.period)?.[0] ?? 'last_30d';
  const summary = useOperation('dashboardCostSummary', { period }, { refresh_ms: REFRESH_MS });
  const budgets = useOperation('dashboardCostBudgets', {}, { refresh_ms: REFRESH_MS });
  const error = summary.error ?? budgets.error;
  return (
    <div className="page-body">
      <PageHeader title="Costs" lead="Spending on calls to model providers. Days are in UTC.">
        <select
          className="select"
          aria-label="Period"
          value={period}
          onChange={(event) => change({ period: event.currentTarget.value })}
        >
          {PERIODS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </PageHeader>
      <ErrorNote error={error} />
      {summary.data === undefined ? null : (
        <CostBody summary={summary.data} budgets={budgets.data?.budgets ?? NONE} />
      )}
    </div>
  );
}

function CostBody({ summary, budgets }: { readonly summary: Summary; readonly budgets: readonly Budget[] }) {
  return (
    <>
      <div className="tiles">
        <StatTile label="Spent" value={formatUsd(summary.total_cost)} />
        <StatTile label="Calls" value={formatCount(summary.calls ?? 0)} />
        <StatTile label="Input tokens" value={formatCount(summary.tokens?.input ?? 0)} />
        <StatTile label="Output tokens" value={formatCount(summary.tokens?.output ?? 0)} />
      </div>
      {(summary.assumed_calls ?? 0) === 0 ? null : (
        <div className="note watch">
          <p>
            {formatNumber(summary.assumed_calls ?? 0, 'call', 'calls')} went to models without a known price
            and were charged at <code>cost.assumed_usd_per_mtok</code>. Set their prices in{' '}
            <code>cost.prices</code>:
          </p>
          <Tags tags={summary.assumed_models ?? NONE} max={20} />
        </div>
      )}
      {(summary.calls ?? 0) === 0 ? (
        <EmptyState title="No call to a model in this period." command="customshouse setup">
          Send model calls through the LLM proxy, and their costs appear here.
        </EmptyState>
      ) : (
        <CostCharts summary={summary} />
      )}
      <Budgets budgets={budgets} />
    </>
  );
}

function CostCharts({ summary }: { readonly summary: Summary }) {
  const days = useMemo(
    () => fillDays(summary.by_day ?? {}, summary.since ?? '', summary.until ?? ''),
    [summary],
  );
  const rank = (sums: Readonly<Record<string, number>> | undefined) =>
    Object.entries(sums ?? {})
      .map(([name, value]) => ({ name, value }))
      .toSorted((a, b) => b.value - a.value)
      .slice(0, 12);
  return (
    <>
      <Panel title="By day">
        <TimeChart
          label="Spending by day"
          times={days.map(([day]) => `${day}T00:00:00`)}
          series={[{ label: 'Spent', tone: 'chart-allow', values: days.map(([, usd]) => usd) }]}
          format={formatUsd}
          is_daily
        />
      </Panel>
      <div className="columns four">
        {(
          [
            ['Models', summary.by_model],
            ['Tenants', summary.by_tenant],
            ['Agents', summary.by_agent],
            ['Users', summary.by_user],
          ] as const
        ).map(([title, sums]) => (
          <Panel key={title} title={title}>
            <RankedBars label={title} rows={rank(sums)} format={formatUsd} empty="No spending." />
          </Panel>
        ))}
      </div>
    </>
  );
}

/** Returns every day of a period with its spending, also those without any. */
function fillDays(
  sums: Readonly<Record<string, number>>,
  since: string,
  until: string,
): readonly (readonly [day: string, usd: number])[] {
  const days: [string, number][] = [];
  const endMs = Date.parse(until);
  for (let atMs = Date.parse(since); atMs <= endMs && days.length < DAYS_MAX; atMs += DAY_MS) {
    const day = new Date(atMs).toISOString().slice(0, 10);
    days.push([day, sums[day] ?? 0]);
  }
  return days;
}

const budgetColumns: readonly DataColumn<Budget>[] = [
  {
    id: 'budget',
    title: 'Budget',
    width: 160,
  },
  {
    id: 'scope',
    title: 'Counted for',
    value: ({ scope }) => Object.values(scope).join(' '),
    render: ({ scope }) => <SafeText text={Object.values(scope).join(', ') || 'all calls'} />,
    width: 160,
    is_wide_only: true,
  },
  {
    id: 'state',
    title: 'State',
    render: (row) => <BudgetState row={row} />,
    width: 120,
  },
  {
    id: 'spent',
    title: 'Spent',
    value: ({ spent_usd }) => spent_usd ?? 0,
    render: ({ spent_usd }) => formatUsd(spent_usd ?? 0),
    width: 100,
    is_number: true,
  },
  {
    id: 'limit',
    title: 'Limit',
    value: ({ limit_usd }) => limit_usd ?? null,
    render: ({ limit_usd }) => (typeof limit_usd === 'number' ? formatUsd(limit_usd) : '–'),
    width: 100,
    is_number: true,
  },
  {
    id: 'forecast',
    title: 'Used up at this rate',
    value: (row) => forecastEnd(row) ?? '',
    render: (row) => <Forecast row={row} />,
    width: 140,
    is_wide_only: true,
  },
  {
    id: 'resets',
    title: 'Resets',
    value: ({ resets_at }) => resets_at ?? null,
    render: ({ resets_at }) => <Time at={resets_at} />,
    width: 110,
    is_wide_only: true,
  },
];

function BudgetState({ row }: { readonly row: Budget }) {
  const badge = { ok: 'healthy', warning: 'medium', exhausted: 'block' }[row.state];
  return (
    <>
      <Badge value={badge} /> <span className="visually-hidden">{row.state}</span>
    </>
  );
}

function Forecast({ row }: { readonly row: Budget }) {
  const end = forecastEnd(row);
  if (end === null) return <span className="muted">not before the reset</span>;
  return (
    <span className="bad-figure">
      <Time at={end} />
    </span>
  );
}

/** Returns when a budget is spent if spending goes on as it did in its period; `null` if it resets before. */
function forecastEnd({ limit_usd, spent_usd, resets_at, period }: Budget): string | null {
  if (typeof limit_usd !== 'number' || typeof resets_at !== 'string' || (spent_usd ?? 0) <= 0) return null;
  const lengthMs = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS }[period ?? ''];
  if (lengthMs === undefined) return null;
  const resetsMs = Date.parse(resets_at);
  const passedMs = Date.now() - (resetsMs - lengthMs);
  if (passedMs <= 0) return null;
  const leftMs = ((limit_usd - (spent_usd ?? 0)) / (spent_usd ?? 1)) * passedMs;
  const endMs = Date.now() + Math.max(0, leftMs);
  return endMs < resetsMs ? new Date(endMs).toISOString() : null;
}

function Budgets({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <Panel title="Budgets">
      <DataTable
        name="budgets"
        label="Budgets"
        columns={budgetColumns}
        rows={budgets}
        rowKey={({ budget, scope }) => `${budget} ${JSON.stringify(scope)}`}
        empty={
          <EmptyState title="No budget is set, or none was used yet.">
            Set limits in <code>cost.budgets</code> of <code>service.yaml</code>.
          </EmptyState>
        }
      />
    </Panel>
  );
}
