import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useOperation } from '../api/use-operation.ts';
import { Button } from '../components/button.tsx';
import type { DataColumn } from '../components/data-column.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { type PagePart, PageTabs } from '../components/page-tabs.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount, formatShare } from '../components/stat-tile.tsx';

const ToolDraft = lazy(() => import('../components/tool-draft.tsx'));

type AgentRow = OperationOutput<'observeAgents'>['agents'][number];
type ToolRow = OperationOutput<'observeTools'>['tools'][number];

const LIMIT = 1_000;
interface UsageRow {
  readonly event_count: number;
  readonly block_count: number;
  readonly block_rate: number;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly declared: boolean;
}

/** The columns that agents and tools share. */
function buildUsageColumns<Row extends UsageRow>(declared: string): readonly DataColumn<Row>[] {
  return [
    {
      id: 'declared',
      title: declared,
      value: (row) => (row.declared ? 'yes' : 'no'),
      render: (row) => (row.declared ? 'yes' : <span className="watch-figure">undeclared</span>),
      width: 110,
    },
    {
      id: 'events',
      title: 'Events',
      value: (row) => row.event_count,
      render: (row) => formatCount(row.event_count),
      width: 90,
      is_number: true,
    },
    {
      id: 'blocked',
      title: 'Blocked',
      value: (row) => row.block_count,
      render: (row) => (
        <span className={row.block_count > 0 ? 'bad-figure' : 'muted'}>
          {formatCount(row.block_count)} · {formatShare(row.block_rate)}
        </span>
      ),
      width: 110,
      is_number: true,
    },
    {
      id: 'first',
      title: 'First seen',
      value: (row) => row.first_seen,
      form: 'time',
      width: 110,
      is_wide_only: true,
    },
    {
      id: 'last',
      title: 'Last seen',
      value: (row) => row.last_seen,
      form: 'time',
      width: 110,
      is_wide_only: true,
    },
  ];
}

const agentColumns: readonly DataColumn<AgentRow>[] = [
  {
    id: 'agent',
    title: 'Agent',
    value: ({ agent_id }) => agent_id,
    render: ({ agent_id }) => (
      <Link to="/agents/$agent_id" params={{ agent_id }} search={{}}>
        <SafeText text={agent_id} />
      </Link>
    ),
    width: 220,
  },
  {
    id: 'tenants',
    title: 'Tenants',
    value: ({ tenant_ids }) => tenant_ids.join(' '),
    render: ({ tenant_ids }) => <SafeText text={tenant_ids.join(', ')} />,
    width: 130,
    is_wide_only: true,
  },
  ...buildUsageColumns<AgentRow>('Identity'),
];

function buildToolColumns(onDraft: (toolName: string) => void): readonly DataColumn<ToolRow>[] {
  return [
    {
      id: 'tool',
      title: 'Tool',
      value: ({ tool_name }) => tool_name,
      render: ({ tool_name }) => (
        <Link to="/activity" search={{ tool_name }}>
          <SafeText text={tool_name} />
        </Link>
      ),
      width: 220,
    },
    ...buildUsageColumns<ToolRow>('Contract'),
    {
      id: 'draft',
      title: 'Draft',
      value: () => '',
      render: ({ tool_name, declared }) => (
        <Button is_small onClick={() => onDraft(tool_name)}>
          {declared ? 'Draft again' : 'Write a contract'}
        </Button>
      ),
      width: 150,
    },
  ];
}

/** Lists agents and tools: whether the policy declares them, what they did, and how much of it was blocked. */
export function AgentsPage() {
  return (
    <div className="page-body filled">
      <PageHeader title="Agents and tools" lead="Who acts, with what, and whether the policy knows them.">
        <PeriodSelect />
      </PageHeader>
      <PageTabs is_filled parts={PARTS} />
    </div>
  );
}

function AgentTable() {
  const last = usePeriod();
  const navigate = useNavigate();
  const { data, error } = useOperation('observeAgents', { last, limit: LIMIT });
  if (error !== null) return <ErrorNote error={error} />;
  return (
    <DataTable
      name="agents"
      label="Agents"
      columns={agentColumns}
      rows={data?.agents}
      rowKey={({ agent_id }) => agent_id}
      onOpen={({ agent_id }) => void navigate({ to: '/agents/$agent_id', params: { agent_id }, search: {} })}
      is_tall
      empty={
        <EmptyState title="No agent acted in this period." command="customshouse setup">
          Connect an agent; it appears here with its first call.
        </EmptyState>
      }
    />
  );
}

function ToolTable() {
  const last = usePeriod();
  const [draftFor, setDraft] = useState<string | null>(null);
  const columns = useMemo(() => buildToolColumns(setDraft), []);
  const { data, error } = useOperation('observeTools', { last, limit: LIMIT });
  if (error !== null) return <ErrorNote error={error} />;
  return (
    <>
      <DataTable
        name="tools"
        label="Tools"
        columns={columns}
        rows={data?.tools}
        rowKey={({ tool_name }) => tool_name}
        onOpen={({ tool_name }) => setDraft(tool_name)}
        is_tall
        empty={
          <EmptyState title="No tool was called in this period." command="customshouse setup">
            Tool calls that go through the service appear here.
          </EmptyState>
        }
      />
      {draftFor === null ? null : (
        <Suspense fallback={<p role="status">Loading …</p>}>
          <ToolDraft tool_name={draftFor} onClose={() => setDraft(null)} />
        </Suspense>
      )}
    </>
  );
}

const PARTS: readonly PagePart[] = [
  { id: 'agents', title: 'Agents', permission: null, Content: AgentTable },
  { id: 'tools', title: 'Tools', permission: null, Content: ToolTable },
];
