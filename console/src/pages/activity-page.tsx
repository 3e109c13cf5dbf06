import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type FeedState, useEventFeed } from '../api/event-feed.ts';
import { useEvents } from '../api/use-events.ts';
import { Button } from '../components/button.tsx';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { type ConsoleEvent, eventColumns, eventFilters } from '../components/event-columns.tsx';
import { useEventFilter } from '../components/event-filter.ts';
import { FilterChips, useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { PeriodSelect } from '../components/period-select.tsx';

/** Shows decisions as they happen, and those of the past, in one table. Its filters are in the address. */
export function ActivityPage() {
  const [query] = useAddressQuery();
  const [isPaused, setPaused] = useState(false);
  const [missed, setMissed] = useState(0);
  const navigate = useNavigate();
  const filter = useEventFilter(eventFilters);
  const history = useEvents(filter);
  const isPast = query.until !== undefined;
  const state = useEventFeed({
    is_paused: isPast,
    onEvents: (count) => (isPaused ? setMissed((before) => before + count) : history.readNewer()),
  });
  function togglePause() {
    if (isPaused) {
      setMissed(0);
      history.readNewer();
    }
    setPaused(!isPaused);
  }
  const openEvent = (event: ConsoleEvent) =>
    void navigate({ to: '/incidents/$event_id', params: { event_id: event.event_id }, search: {} });
  return (
    <div className="page-body filled">
      <PageHeader title="Activity" lead="Every decision, newest first.">
        {isPast ? null : (
          <>
            <FeedSign state={isPaused ? 'paused' : state} missed={missed} />
            <Button aria-pressed={isPaused} onClick={togglePause}>
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
          </>
        )}
        <PeriodSelect />
      </PageHeader>
      <ErrorNote error={history.error} />
      <DataTable
        has_filters
        name="activity"
        label="Decisions"
        columns={eventColumns}
        rows={history.is_loading && history.events.length === 0 ? undefined : history.events}
        rowKey={({ event_id }) => event_id}
        onOpen={openEvent}
        onEnd={history.readOlder}
        has_more={history.has_more}
        is_tall
        empty={<NoActivity is_filtered={Object.keys(filter).length > 1} />}
      >
        <FilterChips fields={eventFilters} />
      </DataTable>
    </div>
  );
}

function NoActivity({ is_filtered }: { readonly is_filtered: boolean }) {
  if (is_filtered)
    return (
      <EmptyState title="No decision matches these filters.">
        Remove a filter, or choose a longer period.
      </EmptyState>
    );
  return (
    <EmptyState title="No decisions in this period." command="customshouse setup">
      Connect an agent. Its decisions appear here as they happen.
    </EmptyState>
  );
}

const FEED_WORDS: Readonly<Record<FeedState, string>> = {
  connecting: 'connecting',
  live: 'live',
  reconnecting: 'connection lost, trying again',
  paused: 'paused',
};

function FeedSign({ state, missed }: { readonly state: FeedState; readonly missed: number }) {
  return (
    <span className={`feed ${state}`} role="status">
      <span className="feed-dot" aria-hidden="true" />
      {FEED_WORDS[state]}
      {missed > 0 ? `, ${missed} new` : ''}
    </span>
  );
}
