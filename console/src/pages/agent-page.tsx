import { useNavigate, useParams } from '@tanstack/react-router';
import { useOperation } from '../api/use-operation.ts';
import { AgentBlockButton, AgentBlockNote } from '../components/agent-block.tsx';
import { Tags } from '../components/badge.tsx';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { eventColumns } from '../components/event-columns.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { RankedBars } from '../components/ranked-bars.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount, formatShare, StatTile } from '../components/stat-tile.tsx';
import { Time } from '../components/time.tsx';

const LIMIT = 500;

/** Shows one agent: its identity, what it called, which rules stopped it, and its latest events. */
export function AgentPage() {
  const { agent_id } = useParams({ strict: false }) as { agent_id: string };
  const last = usePeriod();
  const navigate = useNavigate();
  const { data, error } = useOperation('observeAgent', { agent_id, last, limit: LIMIT });
  const rank = (rows: readonly { name: string; event_count: number; block_count: number }[]) =>
    rows.map(({ name, event_count, block_count }) => ({ name, value: event_count, stopped: block_count }));
  return (
    <div className="page-body">
      <PageHeader title="Agent" lead={<SafeText text={agent_id} />}>
        <AgentBlockButton agent_id={agent_id} />
        <PeriodSelect />
      </PageHeader>
      <AgentBlockNote agent_id={agent_id} />
      <ErrorNote error={error} />
      {data === undefined ? null : (
        <>
          <div className="tiles">
            <StatTile label="Events" value={formatCount(data.usage?.event_count ?? 0)} />
            <StatTile label="Blocked" value={formatCount(data.usage?.block_count ?? 0)} />
            <StatTile label="Block rate" value={formatShare(data.usage?.block_rate ?? 0)} />
            <StatTile label="First seen" value={<Time at={data.usage?.first_seen} />} />
            <StatTile label="Last seen" value={<Time at={data.last_seen} />} />
          </div>
          <div className="columns">
            <Panel title="Identity">
              {data.identity === null ? (
                <EmptyState
                  title="The policy has no identity for this agent."
                  command="customshouse policy lint"
                >
                  Add a document of kind <code>AgentIdentity</code> that binds it to its tools and tags.
                </EmptyState>
              ) : (
                <dl className="facts">
                  <dt>Description</dt>
                  <dd>
                    <SafeText text={data.identity.description} />
                  </dd>
                  <dt>Tools</dt>
                  <dd>
                    <Tags tags={data.identity.tools} max={12} />
                  </dd>
                  <dt>Clearance</dt>
                  <dd>
                    <Tags tags={data.identity.clearance_tags} max={12} />
                  </dd>
                </dl>
              )}
            </Panel>
            <Panel title="Tools">
              <RankedBars
                label="Tools"
                rows={rank(data.tools)}
                format={formatCount}
                empty="It called no tool."
              />
            </Panel>
            <Panel title="Rules">
              <RankedBars
                label="Rules"
                rows={rank(data.rules)}
                format={formatCount}
                empty="No rule acted on it."
              />
            </Panel>
          </div>
          <DataTable
            name="agent-events"
            label="Events of the agent"
            columns={eventColumns}
            rows={data.events.toReversed()}
            has_more={data.next_cursor !== null}
            rowKey={({ event_id }) => event_id}
            onOpen={({ event_id }) =>
              void navigate({ to: '/incidents/$event_id', params: { event_id }, search: {} })
            }
            empty={<p className="muted">No event in this period.</p>}
          />
        </>
      )}
    </div>
  );
}
