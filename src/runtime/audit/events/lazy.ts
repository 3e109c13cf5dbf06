import { createLazyValue } from '../../../platform/lazy.ts';
import { describeFault, type Log } from '../../../platform/log.ts';
import { Unavailable } from '../../../platform/unavailable.ts';
import type { AuditIndex } from '../audit-index.ts';
import type { EventHub } from './hub.ts';

interface LazyHub {
  readonly open: () => Promise<EventHub>;
  readonly close: () => Promise<void>;
}

interface HubParts {
  readonly config: { readonly audit: { readonly export_actions: boolean } };
  readonly coordinator: {
    readonly events: ((turn: number, wanted: boolean) => Promise<number>) | null;
    readonly syncIndex: () => Promise<void>;
  };
  readonly log: Log;
}

/** Opens the event hub on first use, because only readers of the event stream need it. */
export function openLazyHub(
  { config, coordinator, log }: HubParts,
  index: () => Promise<AuditIndex>,
): LazyHub {
  const opened = createLazyValue(load);
  let isClosed = false;
  const requestFeed = (turn: number, wanted: boolean): Promise<number> => {
    if (coordinator.events === null) throw new Error('this process has no readers');
    return coordinator.events(turn, wanted).catch((fault) => {
      log.warn('the event stream of the service is not available', describeFault(fault));
      throw new Unavailable('The event stream cannot be had at the moment; the log says why.', fault);
    });
  };
  return {
    open: opened.open,
    close: async () => {
      isClosed = true;
      await opened.ifOpened((hub) => hub.close());
    },
  };

  async function load(): Promise<EventHub> {
    const [{ openEventHub }, { findStreamPosition, readStreamPage }] = await Promise.all([
      import('./hub.ts'),
      import('./replay.ts'),
    ]);
    const hub = openEventHub({
      join: (turn) => requestFeed(turn, true),
      leave: (turn) => requestFeed(turn, false),
      read: async (from, to) => readStreamPage(await index(), from, to, config.audit.export_actions),
      find: async (eventId) => {
        const found = await findStreamPosition(await index(), eventId);
        if (found !== null) return found;
        // A recent event may be in the journal and not in the index yet.
        await coordinator.syncIndex();
        return findStreamPosition(await index(), eventId);
      },
      log,
    });
    if (isClosed) hub.close();
    return hub;
  }
}
