import { useState } from 'react';
import { useEvents } from '../api/use-events.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import type { ConsoleEvent } from '../components/event-columns.tsx';
import { useEventFilter } from '../components/event-filter.ts';
import { FilterChips } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { type PagePart, PageTabs } from '../components/page-tabs.tsx';
import { PeriodSelect } from '../components/period-select.tsx';
import { auditColumns, auditFilters } from './audit/audit-columns.tsx';
import { AuditCommands } from './audit/audit-commands.tsx';
import { AuditEventPanel } from './audit/audit-event-panel.tsx';
import { ChainPart } from './audit/chain-panel.tsx';
import { HoldsPart } from './audit/holds-panel.tsx';

/** The audit log: a query with all filters; the chain with its verification and evidence packs; legal holds. */
export function AuditPage() {
  return (
    <div className="page-body">
      <PageHeader
        title="Audit"
        lead="Every recorded event, the proof that none was changed, and what is kept."
      />
      <PageTabs parts={PARTS} />
    </div>
  );
}

const PARTS: readonly PagePart[] = [
  { id: 'events', title: 'Events', permission: null, Content: EventsPart },
  { id: 'chain', title: 'Chain and evidence', permission: 'audit:export', Content: ChainPart },
  { id: 'holds', title: 'Legal holds', permission: 'audit:export', Content: HoldsPart },
];

/** A query with all filters, every field of an event, and the command that exports the events. */
function EventsPart() {
  const filter = useEventFilter(auditFilters);
  const history = useEvents(filter);
  const [opened, setOpened] = useState<ConsoleEvent | null>(null);
  return (
    <div className="stack">
      <ErrorNote error={history.error} />
      <DataTable
        has_filters
        name="audit"
        label="Audit events"
        columns={auditColumns}
        rows={history.is_loading && history.events.length === 0 ? undefined : history.events}
        rowKey={({ event_id }) => event_id}
        onOpen={setOpened}
        onEnd={history.readOlder}
        has_more={history.has_more}
        empty={<EmptyState title="No event matches.">Remove a filter, or choose a longer period.</EmptyState>}
      >
        <PeriodSelect />
        <FilterChips fields={auditFilters} />
      </DataTable>
      {opened === null ? null : <AuditEventPanel event={opened} />}
      <AuditCommands filter={filter} />
    </div>
  );
}
