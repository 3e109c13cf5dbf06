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
    form: 'badge',
    width: 110,
  },
  {
    id: 'name',
    title: 'Name',
    width: 150,
  },
  { id: 'driver', title: 'Driver', width: 90, is_wide_only: true },
  {
    id: 'detail',
    title: 'Detail',
    render: ({ detail }) => <Prose text={detail} />,
    width: 340,
    is_wide_only: true,
  },
];

const PROCESS_COLUMNS: readonly DataColumn<ServiceProcess>[] = [
  { id: 'name', title: 'Process', value: ({ name }) => name },
  { id: 'pid', title: 'PID', is_number: true, width: 90 },
  {
    id: 'started_at',
    title: 'Started',
    form: 'time',
  },
  {
    id: 'generation',
    title: 'Policy generation',
    render: ({ generation }) => (generation === null ? <Badge value="no answer" /> : generation),
    is_number: true,
  },
];

const HOOK_COLUMNS: readonly DataColumn<Hook>[] = [
  {
    id: 'coding_agent',
    title: 'Coding agent',
  },
  {
    id: 'hook_event',
    title: 'Hook',
  },
  {
    id: 'last_seen',
    title: 'Last seen',
    form: 'time',
  },
  {
    id: 'first_seen',
    title: 'First seen',
    form: 'time',
    is_wide_only: true,
  },
  {
    id: 'event_count',
    title: 'Events',
    render: ({ event_count }) => formatCount(event_count),
    is_number: true,
    width: 90,
  },
  {
    id: 'hook_version',
    title: 'Version',
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
  if (data === undefined && error !== null) return <ErrorNote error={error} />;
  return (
    <>
      <ErrorNote error={error} />
      <Panel title="Drivers">
        <DataTable
          name="drivers"
          label="Drivers"
          columns={DRIVER_COLUMNS}
          rows={data?.drivers}
          rowKey={({ kind, name }) => `${kind} ${name}`}
          empty={null}
        />
      </Panel>
      <Panel title="Processes">
        <DataTable
          name="processes"
          label="Processes"
          columns={PROCESS_COLUMNS}
          rows={data?.processes}
          rowKey={({ name }) => name}
          empty={null}
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
      <DataTable
        name="hooks"
        error={error}
        label="Hooks that wrote events"
        columns={HOOK_COLUMNS}
        rows={data?.hooks}
        rowKey={({ coding_agent, hook_event }) => `${coding_agent} ${hook_event}`}
        empty={
          <EmptyState title="No hook wrote an event in 30 days." command="customshouse setup">
            Set up a coding agent, then check its hooks with <Command text="customshouse doctor" />.
          </EmptyState>
        }
      />
    </>
  );
}
