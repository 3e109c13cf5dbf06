import { useMemo } from 'react';
import { useOperation } from '../../api/use-operation.ts';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { FilterChips, type FilterField, useAddressQuery } from '../../components/filter-chips.tsx';
import { AlertDetails } from './alert-details.tsx';
import { type AlertEntry, formatGroup, GroupValues } from './alert-fields.tsx';

const REFRESH_MS = 5_000;
const LIMIT = 200;
const STATUSES = ['firing', 'acknowledged', 'silenced', 'resolved'] as const;
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
const FILTERS: readonly FilterField[] = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'severity', label: 'Severity', options: SEVERITIES },
  { name: 'rule_id', label: 'Rule ID' },
  { name: 'tenant_id', label: 'Tenant' },
];

const COLUMNS: readonly DataColumn<AlertEntry>[] = [
  {
    id: 'severity',
    title: 'Severity',
    value: ({ severity }) => SEVERITIES.indexOf(severity as (typeof SEVERITIES)[number]),
    form: 'badge',
    width: 100,
  },
  {
    id: 'status',
    title: 'Status',
    form: 'badge',
    width: 125,
  },
  {
    id: 'rule_name',
    title: 'Rule',
    width: 145,
  },
  {
    id: 'group',
    title: 'Group',
    value: ({ group }) => formatGroup(group),
    render: ({ group }) => <GroupValues group={group} />,
    width: 150,
    is_wide_only: true,
  },
  {
    id: 'count',
    title: 'Events',
    width: 80,
    is_number: true,
    is_wide_only: true,
  },
  {
    id: 'fired_at',
    title: 'Fired',
    form: 'time',
    width: 100,
    is_wide_only: true,
  },
  {
    id: 'last_at',
    title: 'Last event',
    form: 'time',
    width: 100,
    is_wide_only: true,
  },
  {
    id: 'deliveries',
    title: 'Messages',
    value: ({ deliveries }) => deliveries.length,
    render: ({ deliveries }) => <MessageCount deliveries={deliveries} />,
    width: 120,
    is_wide_only: true,
  },
  { id: 'alert_id', title: 'ID', is_extra: true, width: 260 },
];

/** Alerts that fire now, and past ones. */
export function AlertsPanel() {
  const [query, change] = useAddressQuery();
  const status = STATUSES.find((each) => each === query.status);
  const severity = SEVERITIES.find((each) => each === query.severity);
  const { data, error } = useOperation(
    'alertsHistory',
    {
      limit: LIMIT,
      ...(status !== undefined && { status }),
      ...(severity !== undefined && { severity }),
      ...(query.rule_id !== undefined && { rule_id: query.rule_id }),
      ...(query.tenant_id !== undefined && { tenant_id: query.tenant_id }),
    },
    { refresh_ms: REFRESH_MS },
  );
  const alerts = data?.alerts;
  const rows = useMemo(() => sortByStatus(alerts ?? []), [alerts]);
  const firing = rows.filter((each) => each.status === 'firing').length;
  const isFiltered = FILTERS.some(({ name }) => query[name] !== undefined);
  return (
    <>
      <ErrorNote error={error} />
      {firing === 0 ? null : (
        <p className="note watch" role="status">
          {firing === 1 ? 'One alert fires' : `${firing} alerts fire`} and no person has acknowledged{' '}
          {firing === 1 ? 'it' : 'them'} yet.
        </p>
      )}
      {query.alert === undefined ? null : (
        <AlertDetails key={query.alert} alert_id={query.alert} onClose={() => change({ alert: '' })} />
      )}
      <DataTable
        has_filters
        name="alerts"
        label="Alerts"
        columns={COLUMNS}
        rows={alerts && rows}
        rowKey={({ alert_id }) => alert_id}
        onOpen={({ alert_id }) => change({ alert: alert_id })}
        has_more={data?.next_cursor !== null && data !== undefined}
        empty={
          isFiltered ? (
            <EmptyState title="No alert matches these filters." />
          ) : (
            <EmptyState
              title="No alert has fired."
              command={'customshouse alerts add secrets-blocked --name "Secrets were blocked" --tag secret'}
            >
              A rule raises an alert when enough events match it. This command adds one, and so does the part
              Rules of this page.
            </EmptyState>
          )
        }
      >
        <FilterChips fields={FILTERS} />
      </DataTable>
    </>
  );
}

/** Puts alerts that need a person first. Within a status, the newest one stays first. */
function sortByStatus(alerts: readonly AlertEntry[]): readonly AlertEntry[] {
  const place = ({ status }: AlertEntry): number => STATUSES.indexOf(status as (typeof STATUSES)[number]);
  return alerts.toSorted((a, b) => place(a) - place(b));
}

function MessageCount({ deliveries }: Pick<AlertEntry, 'deliveries'>) {
  const dead = deliveries.filter(({ status }) => status === 'dead').length;
  const waiting = deliveries.filter(({ status }) => status === 'pending').length;
  if (dead > 0) return <span className="bad-figure">{dead} not delivered</span>;
  if (waiting > 0) return <span className="watch-figure">{waiting} waiting</span>;
  return <span>{deliveries.length === 0 ? 'none' : `${deliveries.length} sent`}</span>;
}
