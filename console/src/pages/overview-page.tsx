import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useOperation } from '../api/use-operation.ts';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { LazyTimeChart } from '../components/lazy-time-chart.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { Command } from '../components/prose.tsx';
import { RankedBars } from '../components/ranked-bars.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount, StatTile } from '../components/stat-tile.tsx';
import { formatDuration, Time, TimeLeft } from '../components/time.tsx';

type Overview = OperationOutput<'dashboardOverview'>;

const REFRESH_MS = 15_000;

/** Shows the decisions of a period, what changed since the period before, and what waits for an approver. */
export function OverviewPage() {
  const last = usePeriod();
  const { data, error } = useOperation('dashboardOverview', { last }, { refresh_ms: REFRESH_MS });
  return (
    <div className="page-body">
      <PageHeader title="Overview" lead="What passed the boundary, and what did not.">
        <PeriodSelect />
      </PageHeader>
      <ErrorNote error={error} />
      {data === undefined ? <OverviewSkeleton /> : <OverviewBody overview={data} />}
    </div>
  );
}

function OverviewSkeleton() {
  return <div className="skeleton tall" role="status" aria-label="Loading" />;
}

function OverviewBody({ overview }: { readonly overview: Overview }) {
  const { last } = overview.window;
  return (
    <>
      <Figures overview={overview} />
      {overview.events_total === 0 ? <NoEvents /> : <DecisionChart overview={overview} />}
      <div className="columns wide-left">
        <Incidents overview={overview} />
        <div className="stack">
          <Health overview={overview} />
          <TopList title="Tenants" last={last} rows={overview.top.tenants} filter="tenant_id" />
        </div>
      </div>
      <div className="columns four">
        <TopList title="Agents" last={last} rows={overview.top.agents} filter="agent_id" />
        <TopList title="Tools" last={last} rows={overview.top.tools} filter="tool_name" />
        <TopList title="Rules" last={last} rows={overview.top.rules} filter="policy_name" />
        <TopList title="Data tags" last={last} rows={overview.top.tags} filter="data_tag" />
      </div>
    </>
  );
}

function Figures({ overview }: { readonly overview: Overview }) {
  const { events_total, action_counts, previous, pending_approvals, next_approval_expires_at, window } =
    overview;
  const count = (action: string, counts: Readonly<Record<string, number>>) => counts[action] ?? 0;
  const tile = (label: string, action: string, moreIsWorse: boolean) => (
    <StatTile
      label={label}
      value={formatCount(count(action, action_counts))}
      now={count(action, action_counts)}
      before={count(action, previous.action_counts)}
      more_is_worse={moreIsWorse}
      to="/activity"
      search={{ action, last: window.last }}
    />
  );
  return (
    <div className="tiles">
      <StatTile
        label="Decisions"
        value={formatCount(events_total)}
        now={events_total}
        before={previous.events_total}
        to="/activity"
        search={{ last: window.last }}
      />
      {tile('Blocked', 'block', true)}
      {tile('Redacted', 'redact', true)}
      {tile('Flagged', 'flag', true)}
      {tile('Held for approval', 'require_approval', true)}
      {pending_approvals === null ? null : (
        <Link to="/approvals" search={{}} className={pending_approvals > 0 ? 'tile waiting' : 'tile'}>
          <span className="tile-label">Waiting for an approver</span>
          <span className="tile-value">{formatCount(pending_approvals)}</span>
          <span className="tile-change">
            {next_approval_expires_at === null ? (
              'nothing to decide'
            ) : (
              <TimeLeft until={next_approval_expires_at} />
            )}
          </span>
        </Link>
      )}
    </div>
  );
}

function DecisionChart({ overview }: { readonly overview: Overview }) {
  const navigate = useNavigate();
  const { buckets, window } = overview;
  const times = useMemo(() => buckets.map(({ start }) => start), [buckets]);
  const series = useMemo(
    () => [
      { label: 'Allowed', tone: 'chart-allow', values: buckets.map(({ allow }) => allow) },
      { label: 'Changed', tone: 'chart-change', values: buckets.map(({ modify }) => modify) },
      {
        label: 'Blocked',
        tone: 'chart-block',
        side: 'below' as const,
        values: buckets.map(({ block }) => block),
      },
      {
        label: 'Held for approval',
        tone: 'chart-wait',
        side: 'below' as const,
        values: buckets.map(({ require_approval }) => require_approval),
      },
    ],
    [buckets],
  );
  function open(index: number) {
    const since = times[index];
    if (since === undefined) return;
    const until = new Date(Date.parse(since) + window.bucket_seconds * 1000).toISOString();
    void navigate({ to: '/activity', search: { since, until } });
  }
  return (
    <Panel
      title="Decisions over time"
      aside={
        <span className="hint">
          above the line: passed · below: stopped or held · {formatDuration(window.bucket_seconds * 1000)} per
          bar
        </span>
      }
    >
      <LazyTimeChart
        label="Decisions over time by outcome"
        times={times}
        series={series}
        format={formatCount}
        onSelect={open}
      />
    </Panel>
  );
}

function NoEvents() {
  return (
    <EmptyState
      title="No decisions in this period."
      command={`curl -s ${location.origin}/v1/scan/input -H 'content-type: application/json' -d '{"text": "My key is AKIAIOSFODNN7EXAMPLE"}'`}
    >
      Connect an agent with <Command text="customshouse setup" />, or send a first text yourself. To look
      around with a day of made-up traffic, run <code>npm run demo</code>.
    </EmptyState>
  );
}

function Incidents({ overview }: { readonly overview: Overview }) {
  return (
    <Panel
      title="Latest incidents"
      aside={
        <Link to="/incidents" search={{ last: overview.window.last }}>
          All incidents
        </Link>
      }
    >
      {overview.recent_incidents.length === 0 ? (
        <p className="muted">Nothing was stopped or changed in this period.</p>
      ) : (
        <ul className="rows">
          {overview.recent_incidents.map((event) => (
            <li key={event.event_id}>
              <Badge value={event.action} />
              <span className="row-main">
                <Link to="/incidents/$event_id" params={{ event_id: event.event_id }} search={{}}>
                  <SafeText text={event.tool_name ?? event.boundary} />
                </Link>{' '}
                <span className="muted">by</span> <SafeText text={event.agent_id} />
                <span className="row-reason">
                  <SafeText text={event.reason} />
                </span>
              </span>
              <Time at={event.timestamp} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Health({ overview }: { readonly overview: Overview }) {
  const { health } = overview;
  return (
    <Panel title="Health" aside={<Badge value={health.status} />}>
      <dl className="facts">
        <dt>Policy</dt>
        <dd>
          <code title={health.policy_hash}>{health.policy_hash.replace('sha256:', '').slice(0, 12)}</code>
        </dd>
        <dt>Rules</dt>
        <dd>
          {formatCount(health.rules)}
          {health.monitored_rules > 0 ? `, ${health.monitored_rules} in monitor mode` : ''}
        </dd>
        <dt>Mode</dt>
        <dd>{health.mode}</dd>
        <dt>Up for</dt>
        <dd>{formatDuration(health.uptime_seconds * 1000)}</dd>
        <dt>Version</dt>
        <dd>{health.version}</dd>
      </dl>
      {health.last_reload_failure === null ? null : (
        <div className="note bad">
          <p>The last reload failed, and the previous policy is still active.</p>
          <SafeText text={health.last_reload_failure} has_lines />
        </div>
      )}
    </Panel>
  );
}

interface TopListProps {
  readonly title: string;
  readonly rows: Overview['top']['agents'];
  readonly last: string;
  /** The filter of the activity page that a row sets. */
  readonly filter: string;
}

function TopList({ title, rows, last, filter }: TopListProps) {
  return (
    <Panel title={title}>
      <RankedBars
        label={title}
        rows={rows.map(({ name, events, blocked, previous_events }) => ({
          name,
          value: events,
          stopped: blocked,
          before: previous_events,
        }))}
        format={formatCount}
        link={(name) => ({ to: '/activity', search: { [filter]: name, last } })}
        empty="None in this period."
      />
    </Panel>
  );
}
