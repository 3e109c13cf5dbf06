import { Link, useNavigate } from '@tanstack/react-router';
import type { OperationOutput } from '../api/client.ts';
import { useOperation } from '../api/use-operation.ts';
import type { DataColumn } from '../components/data-column.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FilterChips, useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { Command } from '../components/prose.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatDuration } from '../components/time.tsx';

type SessionRow = OperationOutput<'observeSessions'>['sessions'][number];

const LIMIT = 1_000;
const FILTERS = [{ name: 'tenant_id', label: 'Tenant' }];
const columns: readonly DataColumn<SessionRow>[] = [
  {
    id: 'session',
    title: 'Session',
    value: ({ session_id }) => session_id,
    render: ({ session_id, tenant_id }) => (
      <Link to="/sessions/$session_id" params={{ session_id }} search={{ tenant_id }}>
        <SafeText text={session_id} />
      </Link>
    ),
    width: 200,
  },
  {
    id: 'agents',
    title: 'Agents',
    value: ({ agent_ids }) => agent_ids.join(' '),
    render: ({ agent_ids }) => <SafeText text={agent_ids.join(', ')} />,
    width: 220,
  },
  {
    id: 'tenant',
    title: 'Tenant',
    value: ({ tenant_id }) => tenant_id,
    width: 110,
    is_wide_only: true,
  },
  { id: 'events', title: 'Events', value: ({ event_count }) => event_count, width: 85, is_number: true },
  {
    id: 'blocked',
    title: 'Blocked',
    value: ({ block_count }) => block_count,
    render: ({ block_count }) => (
      <span className={block_count > 0 ? 'bad-figure' : 'muted'}>{block_count}</span>
    ),
    width: 85,
    is_number: true,
  },
  {
    id: 'length',
    title: 'Duration',
    value: (row) => getLength(row),
    render: (row) => formatDuration(getLength(row)),
    width: 100,
    is_number: true,
    is_wide_only: true,
  },
  {
    id: 'last',
    title: 'Last event',
    value: ({ last_seen }) => last_seen,
    form: 'time',
    width: 110,
  },
];

/** Lists the sessions of a period, the most recent activity first. */
export function SessionsPage() {
  const last = usePeriod();
  const [query] = useAddressQuery();
  const navigate = useNavigate();
  const tenant = query.tenant_id === undefined ? {} : { tenant_id: query.tenant_id };
  const { data, error } = useOperation('observeSessions', { last, limit: LIMIT, ...tenant });
  return (
    <div className="page-body filled">
      <PageHeader title="Sessions" lead="What agents did, step by step, in one conversation or run.">
        <PeriodSelect />
      </PageHeader>
      <DataTable
        name="sessions"
        error={error}
        label="Sessions"
        columns={columns}
        rows={data?.sessions}
        has_more={data !== undefined && data.next_cursor !== null}
        rowKey={({ tenant_id, session_id }) => `${tenant_id} ${session_id}`}
        onOpen={({ session_id, tenant_id }) =>
          void navigate({ to: '/sessions/$session_id', params: { session_id }, search: { tenant_id } })
        }
        is_tall
        empty={
          <EmptyState title="No session in this period.">
            An agent names its session in <code>session_id</code> of a check, or its framework does with{' '}
            <Command text="customshouse setup" />.
          </EmptyState>
        }
      >
        <FilterChips fields={FILTERS} />
      </DataTable>
    </div>
  );
}

function getLength({ first_seen, last_seen }: SessionRow): number {
  return Date.parse(last_seen) - Date.parse(first_seen);
}
