import { describeFault, type Log } from '../../../platform/log.ts';
import type { IndexedBlock, IndexWatcher } from '../arrivals.ts';
import type { AuditEvent } from '../types.ts';
import { buildStreamedEvent } from './streamed.ts';
import type { StreamBatch, StreamedText } from './types.ts';

/** The parent's part of the event stream: receives indexed events and sends them to the workers that have readers. */
export interface EventFeed extends IndexWatcher {
  /** Sends a worker all events from now on. `send` resolves when the worker has received the batch. */
  readonly join: (worker: string, turn: number, send: (batch: StreamBatch) => Promise<unknown>) => void;
  readonly leave: (worker: string, turn: number) => void;
  /** Calls `come` after each insert, until the returned function is called. */
  readonly watch: (onEvents: () => void) => () => void;
}

/**
 * The maximum text that waits for one worker, in UTF-16 units. Beyond it the waiting events are dropped. The next batch
 * then begins after a gap, and the worker reads the missing events from the index.
 */
const WAITING_MAX = 4_194_304;

/**
 * Opens the feed of a service. It serializes no events while there are no readers. With `exportsActions` it sends only the
 * end of each block: the workers then read the events from the index, which has their shown actions.
 */
export function openEventFeed(log: Pick<Log, 'warn'>, exportsActions = false): EventFeed {
  const workers = new Map<string, { readonly turn: number; readonly queue: Queue }>();
  const remove = (worker: string, turn: number): void => {
    if (workers.get(worker)?.turn === turn) workers.delete(worker);
  };
  const watchers = new Set<() => void>();
  return {
    isActive: () => workers.size + watchers.size > 0,
    onIndexed: (block) => {
      for (const onEvents of watchers) onEvents();
      if (workers.size === 0) return;
      const batch = exportsActions ? { from: block.to, to: block.to } : block;
      const events = exportsActions ? [] : block.events.map(({ event }) => getText(event));
      for (const { queue } of workers.values()) queue.add(batch, events);
    },
    join: (worker, turn, send) => {
      const queue = openQueue(turn, send, (fault) => {
        if ((fault as { code?: unknown }).code === 'gone') remove(worker, turn);
        else log.warn('a worker is late with events for its readers', { worker, ...describeFault(fault) });
      });
      workers.set(worker, { turn, queue });
    },
    leave: remove,
    watch: (onEvents) => {
      // Wraps the callback, so that a callback that is registered twice counts twice.
      const own = (): void => onEvents();
      watchers.add(own);
      return () => void watchers.delete(own);
    },
  };
}

function getText(event: AuditEvent): StreamedText {
  const { caller_id, json } = buildStreamedEvent(event);
  return { caller_id, json };
}

interface Queue {
  readonly add: (block: Pick<IndexedBlock, 'from' | 'to'>, events: readonly StreamedText[]) => void;
}

/** Sends one batch at a time, so that a busy worker receives few large batches. */
function openQueue(
  turn: number,
  send: (batch: StreamBatch) => Promise<unknown>,
  onFault: (fault: unknown) => void,
): Queue {
  let waiting: { from: number; to: number; events: StreamedText[]; units: number } | null = null;
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    for (let batch = waiting; batch !== null; batch = waiting) {
      waiting = null;
      // After a failure the events are missing before the next batch; the worker reads them from the index.
      await send({ turn, from: batch.from, to: batch.to, events: batch.events }).catch(onFault);
    }
    isSending = false;
  }

  return {
    add: ({ from, to }, events) => {
      const units = events.reduce((sum, { json }) => sum + json.length, 0);
      if (waiting === null || waiting.units + units > WAITING_MAX)
        waiting = { from, to, events: [...events], units };
      else {
        waiting.to = to;
        waiting.units += units;
        waiting.events.push(...events);
      }
      if (!isSending) void sendAll();
    },
  };
}
