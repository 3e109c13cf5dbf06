import { Link, useParams } from '@tanstack/react-router';
import type { OperationOutput } from '../api/client.ts';
import { useOperation } from '../api/use-operation.ts';
import { Badge, Tags } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount, formatUsd } from '../components/stat-tile.tsx';
import { formatDuration, Time } from '../components/time.tsx';

type Trace = OperationOutput<'observeSession'>;
type Span = Trace['spans'][number];

const LIMIT = 500;

/** Shows one session as a waterfall: each step where it began, how long it took, and the taint tags as they appeared. */
export function SessionPage() {
  const { session_id } = useParams({ strict: false }) as { session_id: string };
  const [query] = useAddressQuery();
  const tenant = query.tenant_id === undefined ? {} : { tenant_id: query.tenant_id };
  const { data, error } = useOperation(
    'observeSession',
    { session_id, limit: LIMIT, ...tenant },
    { refresh_ms: 10_000 },
  );
  return (
    <div className="page-body">
      <PageHeader title="Session" lead={<SafeText text={session_id} />} />
      <ErrorNote error={error} />
      {data === undefined ? null : data.spans.length === 0 ? (
        <EmptyState title="This session has no recorded step.">
          It may be older than the audit log keeps.
        </EmptyState>
      ) : (
        <>
          <SessionFacts trace={data} />
          <Waterfall trace={data} />
        </>
      )}
    </div>
  );
}

function SessionFacts({ trace }: { readonly trace: Trace }) {
  const { start_ms, end_ms } = findRange(trace.spans);
  return (
    <div className="tiles">
      <div className="tile">
        <span className="tile-label">Agents</span>
        <span>
          {trace.agent_ids.map((agentId) => (
            <span key={agentId} className="block">
              <Link to="/agents/$agent_id" params={{ agent_id: agentId }} search={{}}>
                <SafeText text={agentId} />
              </Link>
            </span>
          ))}
        </span>
      </div>
      <div className="tile">
        <span className="tile-label">Steps</span>
        <span className="tile-value">{trace.spans.length}</span>
        <span className="tile-change">
          {trace.next_cursor === null ? 'all of the session' : 'the newest; older ones are not shown'}
        </span>
      </div>
      <div className="tile">
        <span className="tile-label">Duration</span>
        <span className="tile-value">{formatDuration(end_ms - start_ms)}</span>
        <span className="tile-change">
          from <Time at={new Date(start_ms).toISOString()} form="clock" />
        </span>
      </div>
      <CostTile spans={trace.spans} />
      <div className="tile">
        <span className="tile-label">Taint tags now</span>
        <span>
          <Tags tags={trace.taint_tags} max={6} />
        </span>
      </div>
    </div>
  );
}

/** The tokens and costs of the shown model calls. Absent if no provider reported any. */
function CostTile({ spans }: { readonly spans: readonly Span[] }) {
  const paid = spans.filter(({ micro_usd }) => typeof micro_usd === 'number');
  if (paid.length === 0) return null;
  const sum = (read: (span: Span) => number | null) =>
    paid.reduce((total, span) => total + (read(span) ?? 0), 0);
  return (
    <div className="tile">
      <span className="tile-label">Cost of model calls</span>
      <span className="tile-value">{formatUsd(sum(({ micro_usd }) => micro_usd) / 1_000_000)}</span>
      <span className="tile-change">
        {formatCount(sum(({ input_tokens }) => input_tokens))} tokens in,{' '}
        {formatCount(sum(({ output_tokens }) => output_tokens))} out
      </span>
    </div>
  );
}

function Waterfall({ trace }: { readonly trace: Trace }) {
  const range = findRange(trace.spans);
  return (
    <Panel
      title="Steps"
      aside={
        <span className="hint">
          each bar begins where the step began · a diamond marks a step without a recorded end
        </span>
      }
    >
      <ol className="waterfall">
        {trace.spans.map((span) => (
          <SpanRow key={span.event_id} span={span} range={range} />
        ))}
      </ol>
    </Panel>
  );
}

interface SpanRange {
  readonly start_ms: number;
  readonly end_ms: number;
}

function SpanRow({ span, range }: { readonly span: Span; readonly range: SpanRange }) {
  const lengthMs = Math.max(1, range.end_ms - range.start_ms);
  const left = ((Date.parse(span.start) - range.start_ms) / lengthMs) * 100;
  const width = ((span.duration_ms ?? 0) / lengthMs) * 100;
  const decision = span.end_decision === 'block' ? 'block' : span.action;
  return (
    <li>
      <span className="span-name">
        <span className="muted">{span.kind.replaceAll('_', ' ')}</span>{' '}
        <Link to="/incidents/$event_id" params={{ event_id: span.event_id }} search={{}}>
          <SafeText text={span.name} />
        </Link>
      </span>
      <Badge value={decision} />
      <span className="span-track" aria-hidden="true">
        <span
          className={`span-bar ${decision} ${span.duration_ms === null ? 'point' : ''}`}
          style={{
            left: `${Math.min(left, 99)}%`,
            width: span.duration_ms === null ? undefined : `${Math.max(width, 0.6)}%`,
          }}
        />
      </span>
      <span className="span-time">
        <Time at={span.start} form="time" />
        {span.duration_ms === null ? null : (
          <span className="muted"> {formatDuration(span.duration_ms)}</span>
        )}
        {typeof span.micro_usd === 'number' ? (
          <span className="muted"> {formatUsd(span.micro_usd / 1_000_000)}</span>
        ) : null}
      </span>
      {span.new_tags.length === 0 ? null : (
        <span className="span-tags">
          new taint <Tags tags={span.new_tags} max={6} />
        </span>
      )}
    </li>
  );
}

function findRange(spans: readonly Span[]): SpanRange {
  const starts = spans.map(({ start }) => Date.parse(start));
  const ends = spans.map(({ start, end }) => Date.parse(end ?? start));
  return { start_ms: Math.min(...starts), end_ms: Math.max(...ends) };
}
