import { useState } from 'react';
import { useEvents } from '../api/use-events.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import type { ConsoleEvent } from '../components/event-columns.tsx';
import { useEventFilter } from '../components/event-filter.ts';
import { FilterChips } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { PeriodSelect } from '../components/period-select.tsx';
import { auditColumns, auditFilters } from './audit/audit-columns.tsx';
import { AuditCommands } from './audit/audit-commands.tsx';
import { AuditEventPanel } from './audit/audit-event-panel.tsx';

/** The audit log: a query with all filters, every field of an event, and the commands that verify and export the log. */
export function AuditPage() {
  const filter = useEventFilter(auditFilters);
  const history = useEvents(filter);
  const [opened, setOpened] = useState<ConsoleEvent | null>(null);
  return (
    <div className="page-body">
      <PageHeader title="Audit" lead="Every recorded event with all its fields, newest first.">
        <PeriodSelect />
      </PageHeader>
      {history.error === null ? null : <ErrorNote error={history.error} />}
      <DataTable
        name="audit"
        label="Audit events"
        columns={auditColumns}
        rows={history.events}
        rowKey={({ event_id }) => event_id}
        onOpen={setOpened}
        onEnd={history.readOlder}
        has_more={history.has_more}
        empty={
          history.is_loading ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState title="No event matches.">Remove a filter, or choose a longer period.</EmptyState>
          )
        }
      >
        <FilterChips fields={auditFilters} />
      </DataTable>
      {opened === null ? null : <AuditEventPanel event={opened} />}
      <AuditCommands filter={filter} />
    </div>
  );
}
