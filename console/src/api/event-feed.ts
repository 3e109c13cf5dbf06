import { useEffect, useRef, useState } from 'react';

/** The state of the connection to the event stream. */
export type FeedState = 'connecting' | 'live' | 'reconnecting' | 'paused';

const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];
/** Events that arrive in this time cause one call. */
const GATHER_MS = 400;

interface EventFeed {
  readonly is_paused: boolean;
  /** Called after one or more events. The page then reads them with its filters. */
  readonly onEvents: (count: number) => void;
}

/**
 * Follows the event stream over a WebSocket. A message tells that there are new events; the page reads them with its own filters, so
 * that the service alone decides what the user may see. A lost connection is opened again with growing pauses.
 */
export function useEventFeed({ is_paused, onEvents }: EventFeed): FeedState {
  const [state, setState] = useState<FeedState>('connecting');
  const notify = useRef(onEvents);
  notify.current = onEvents;
  useEffect(() => {
    if (is_paused) return;
    return openFeed(setState, (count) => notify.current(count));
  }, [is_paused]);
  return is_paused ? 'paused' : state;
}

function openFeed(setState: (state: FeedState) => void, onEvents: (count: number) => void): () => void {
  const closed = new AbortController();
  const { signal } = closed;
  let socket: WebSocket | null = null;
  let attempts = 0;
  let retryTimer = 0;
  let gatherTimer = 0;
  let gathered = 0;
  function flush() {
    onEvents(gathered);
    gatherTimer = 0;
    gathered = 0;
  }
  function connect() {
    socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/ws/events`, ['service.events.v1']);
    socket.addEventListener('open', onOpen, { signal });
    socket.addEventListener('message', onMessage, { signal });
    socket.addEventListener('close', onClose, { signal });
  }
  function onOpen() {
    // Events that happened while the connection was lost are read at once.
    if (attempts > 0) onEvents(0);
    attempts = 0;
    setState('live');
  }
  function onMessage() {
    gathered++;
    if (gatherTimer === 0) gatherTimer = window.setTimeout(flush, GATHER_MS);
  }
  function onClose() {
    setState('reconnecting');
    retryTimer = window.setTimeout(connect, RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)]);
    attempts++;
  }
  setState('connecting');
  connect();
  return () => {
    closed.abort();
    window.clearTimeout(retryTimer);
    window.clearTimeout(gatherTimer);
    socket?.close();
  };
}
