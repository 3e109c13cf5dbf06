import { useNavigate } from '@tanstack/react-router';
import { useOperation } from '../api/use-operation.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { eventColumns } from '../components/event-columns.tsx';
import { FilterChips, useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';

const LIMIT = 1_000;

/** Lists the decisions that blocked, changed or held something. */
export function IncidentsPage() {
  const last = usePeriod();
  const [query] = useAddressQuery();
  const navigate = useNavigate();
  const tenant = query.tenant_id === undefined ? {} : { tenant_id: query.tenant_id };
  const { data, error } = useOperation(
    'dashboardIncidents',
    { last, limit: LIMIT, ...tenant },
    { refresh_ms: 15_000 },
  );
  return (
    <div className="page-body filled">
      <PageHeader title="Incidents" lead="Decisions that blocked, changed or held something.">
        <PeriodSelect />
      </PageHeader>
      <ErrorNote error={error} />
      <DataTable
        has_filters
        name="incidents"
        label="Incidents"
        columns={eventColumns}
        rows={data?.events}
        has_more={data?.next_cursor !== null && data !== undefined}
        rowKey={({ event_id }) => event_id}
        onOpen={({ event_id }) =>
          void navigate({ to: '/incidents/$event_id', params: { event_id }, search: {} })
        }
        is_tall
        empty={
          <EmptyState
            title="Nothing was stopped or changed in this period."
            command="customshouse policy lint"
          >
            If you expected an incident, check that the rules cover it.
          </EmptyState>
        }
      >
        <FilterChips fields={FILTERS} />
      </DataTable>
    </div>
  );
}

const FILTERS = [{ name: 'tenant_id', label: 'Tenant' }];
