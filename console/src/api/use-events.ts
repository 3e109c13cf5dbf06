import {
  type Dispatch,
  type RefObject,
  type SetStateAction,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import type { ConsoleEvent } from '../components/event-columns.tsx';
import { ApiError, callOperation, type OperationInput } from './client.ts';

type EventFilter = OperationInput<'dashboardEventsQuery'>;

const PAGE = 500;
/** Events that one page holds in memory. */
const EVENTS_MAX = 100_000;

interface EventHistory {
  readonly events: readonly ConsoleEvent[];
  readonly total: number | null;
  readonly error: ApiError | null;
  readonly is_loading: boolean;
  readonly has_more: boolean;
  /** Reads the next page of older events. */
  readonly readOlder: () => void;
  /** Reads the events that are newer than the newest one here. */
  readonly readNewer: () => void;
}

interface HistoryState {
  readonly events: readonly ConsoleEvent[];
  readonly cursor: string | null;
  readonly total: number | null;
  readonly error: ApiError | null;
  readonly is_loading: boolean;
}

const EMPTY: HistoryState = { events: [], cursor: null, total: null, error: null, is_loading: true };

/** Reads the events that match a filter, newest first: one page, then older ones and newer ones on demand. */
export function useEvents(filter: EventFilter): EventHistory {
  const [state, setState] = useState<HistoryState>(EMPTY);
  const key = JSON.stringify(filter);
  const current = useRef({ key, state, is_reading: false, wants_newer: false });
  const newer = useRef<() => void>(() => undefined);
  current.current = { ...current.current, key, state };

  const read = usePageReader(key, current, setState, newer);

  useEffect(() => {
    current.current.is_reading = false;
    setState((before) => ({ ...before, is_loading: true }));
    void read({ limit: PAGE }, (_before, page) => ({
      ...EMPTY,
      events: page.events,
      cursor: page.next_cursor,
      total: page.total,
    }));
  }, [read]);

  const readOlder = useCallback(() => {
    const { cursor, events } = current.current.state;
    if (cursor === null || events.length >= EVENTS_MAX) return;
    void read({ limit: PAGE, cursor }, (before, page) => ({
      ...before,
      events: mergeEvents(before.events, page.events),
      cursor: page.next_cursor,
    }));
  }, [read]);

  const readNewer = useCallback(() => {
    // Events that arrive during a call are read after it.
    current.current.wants_newer = current.current.is_reading;
    const newest = current.current.state.events[0]?.timestamp;
    const since = newest === undefined ? {} : { since: newest, last: null };
    void read({ ...since, limit: PAGE }, (before, page) => ({
      ...before,
      events: mergeEvents(page.events, before.events).slice(0, EVENTS_MAX),
      total: null,
    }));
  }, [read]);

  newer.current = readNewer;

  const { events, total, error, is_loading, cursor } = state;
  return { events, total, error, is_loading, has_more: cursor !== null, readOlder, readNewer };
}

/** The call in progress, and what to read after it. */
interface ReadingState {
  key: string;
  state: HistoryState;
  is_reading: boolean;
  wants_newer: boolean;
}

type MergePage = (before: HistoryState, page: Page) => HistoryState;

/** Returns a function that reads one page at a time. An answer to an earlier filter is dropped. */
function usePageReader(
  key: string,
  current: RefObject<ReadingState>,
  setState: Dispatch<SetStateAction<HistoryState>>,
  newer: RefObject<() => void>,
) {
  return useCallback(
    async (input: EventFilter, merge: MergePage) => {
      if (current.current.is_reading) return;
      current.current.is_reading = true;
      const askedKey = key;
      try {
        const page = await callOperation('dashboardEventsQuery', {
          ...(JSON.parse(key) as EventFilter),
          ...input,
        });
        if (current.current.key === askedKey)
          setState((before) => ({ ...merge(before, page), error: null, is_loading: false }));
      } catch (error) {
        if (current.current.key === askedKey && error instanceof ApiError)
          setState((before) => ({ ...before, error, is_loading: false }));
      } finally {
        current.current.is_reading = false;
        if (current.current.wants_newer) newer.current();
      }
    },
    [key, current, setState, newer],
  );
}

type Page = Awaited<ReturnType<typeof callOperation<'dashboardEventsQuery'>>>;

/** Joins two lists, of which the first is newer. An event appears once. */
function mergeEvents(
  newer: readonly ConsoleEvent[],
  older: readonly ConsoleEvent[],
): readonly ConsoleEvent[] {
  const known = new Set(older.map(({ event_id }) => event_id));
  const added = newer.filter(({ event_id }) => !known.has(event_id));
  if (added.length === 0) return older;
  return added.length === newer.length ? [...newer, ...older] : [...added, ...older];
}
