import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { Command, Prose } from '../../components/prose.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { formatCount } from '../../components/stat-tile.tsx';
import { Time } from '../../components/time.tsx';

const REFRESH_MS = 15_000;

type Status = OperationOutput<'serviceStatus'>;
type Driver = Status['drivers'][number];
type ServiceProcess = Status['processes'][number];
type Hook = OperationOutput<'observeHooks'>['hooks'][number];

const KINDS: Readonly<Record<Driver['kind'], string>> = {
  store: 'Store',
  secrets: 'Secret backend',
  alert_channel: 'Alert channel',
  approval_webhook: 'Approval webhook',
  identity: 'Identity',
  telemetry: 'Telemetry',
  advisor: 'Advisor',
  classifier: 'Classifier',
};

const DRIVER_COLUMNS: readonly DataColumn<Driver>[] = [
  { id: 'kind', title: 'Part', value: ({ kind }) => KINDS[kind], width: 130 },
  {
    id: 'status',
    title: 'Status',
    value: ({ status }) => status,
    render: ({ status }) => <Badge value={status} />,
    width: 110,
  },
  {
    id: 'name',
    title: 'Name',
    value: ({ name }) => name,
    render: ({ name }) => <SafeText text={name} />,
    width: 150,
  },
  { id: 'driver', title: 'Driver', value: ({ driver }) => driver, width: 90, is_wide_only: true },
  {
    id: 'detail',
    title: 'Detail',
    value: ({ detail }) => detail,
    render: ({ detail }) => <Prose text={detail} />,
    width: 340,
    is_wide_only: true,
  },
];

const PROCESS_COLUMNS: readonly DataColumn<ServiceProcess>[] = [
  { id: 'name', title: 'Process', value: ({ name }) => name },
  { id: 'pid', title: 'PID', value: ({ pid }) => pid, is_number: true, width: 90 },
  {
    id: 'started_at',
    title: 'Started',
    value: ({ started_at }) => started_at,
    render: ({ started_at }) => <Time at={started_at} />,
  },
  {
    id: 'generation',
    title: 'Policy generation',
    value: ({ generation }) => generation,
    render: ({ generation }) => (generation === null ? <Badge value="no answer" /> : generation),
    is_number: true,
  },
];

const HOOK_COLUMNS: readonly DataColumn<Hook>[] = [
  {
    id: 'coding_agent',
    title: 'Coding agent',
    value: ({ coding_agent }) => coding_agent,
    render: ({ coding_agent }) => <SafeText text={coding_agent} />,
  },
  {
    id: 'hook_event',
    title: 'Hook',
    value: ({ hook_event }) => hook_event,
    render: ({ hook_event }) => <SafeText text={hook_event} />,
  },
  {
    id: 'last_seen',
    title: 'Last seen',
    value: ({ last_seen }) => last_seen,
    render: ({ last_seen }) => <Time at={last_seen} />,
  },
  {
    id: 'first_seen',
    title: 'First seen',
    value: ({ first_seen }) => first_seen,
    render: ({ first_seen }) => <Time at={first_seen} />,
    is_wide_only: true,
  },
  {
    id: 'event_count',
    title: 'Events',
    value: ({ event_count }) => event_count,
    render: ({ event_count }) => formatCount(event_count),
    is_number: true,
    width: 90,
  },
  {
    id: 'hook_version',
    title: 'Version',
    value: ({ hook_version }) => hook_version,
    render: ({ hook_version }) => <SafeText text={hook_version} />,
    is_wide_only: true,
  },
  {
    id: 'agent_ids',
    title: 'Agents',
    value: ({ agent_ids }) => agent_ids.join(', '),
    render: ({ agent_ids }) => <SafeText text={agent_ids.join(', ')} />,
    is_wide_only: true,
  },
];

/** The processes of the service, and the parts that the configuration connects. */
export function DriversPanel() {
  const { data, error } = useOperation('serviceStatus', {}, { refresh_ms: REFRESH_MS });
  const loading = <p className="muted">Loading …</p>;
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <Panel title="Drivers">
        <DataTable
          name="drivers"
          label="Drivers"
          columns={DRIVER_COLUMNS}
          rows={data?.drivers ?? []}
          rowKey={({ kind, name }) => `${kind} ${name}`}
          empty={loading}
        />
      </Panel>
      <Panel title="Processes">
        <DataTable
          name="processes"
          label="Processes"
          columns={PROCESS_COLUMNS}
          rows={data?.processes ?? []}
          rowKey={({ name }) => name}
          empty={loading}
        />
      </Panel>
    </>
  );
}

/** The coding agents and hooks that wrote events within the last thirty days. */
export function HooksPanel() {
  const { data, error } = useOperation('observeHooks', { last: '30d', limit: 200 });
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="hooks"
        label="Hooks that wrote events"
        columns={HOOK_COLUMNS}
        rows={data?.hooks ?? []}
        rowKey={({ coding_agent, hook_event }) => `${coding_agent} ${hook_event}`}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState title="No hook wrote an event in 30 days." command="customshouse setup">
              Set up a coding agent, then check its hooks with <Command text="customshouse doctor" />.
            </EmptyState>
          )
        }
      />
    </>
  );
}
