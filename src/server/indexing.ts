import { createLazyValue } from '../platform/lazy.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { openSerialQueue } from '../platform/queue/serial-queue.ts';
import { openThrottle, PAUSE_MS_MAX, type Throttle } from '../platform/queue/throttle.ts';
import type { ArrivalNotifier, IndexWatcher } from '../runtime/audit/arrivals.ts';
import { openArrivalNotifier } from '../runtime/audit/arrivals.ts';
import type { AuditIndex, IndexAddress } from '../runtime/audit/audit-index.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import type { Journal } from '../runtime/audit/index.ts';
import { openIndexer } from '../runtime/audit/indexer.ts';
import { INDEX_OFF } from '../runtime/audit/lazy-index.ts';
import { readLegalHolds } from '../runtime/audit/legal-holds.ts';
import { openIndex } from '../runtime/audit/open-index.ts';
import { findShortenedChains } from '../runtime/audit/shortened-chains.ts';
import { drainSpool } from '../runtime/audit/spool.ts';
import { openSteadyClock } from '../runtime/audit/steady-clock.ts';
import type { StateWatch } from './state-watch.ts';

/**
 * Keeps the audit index close behind the journals, and imports the events that short-lived processes left in
 * the spool.
 */
export interface IndexFiller {
  /** Returns whether the index is open, or there is none. */
  readonly ready: () => boolean;
  /** Resolves when the index has every event that was durable before the call. */
  readonly sync: () => Promise<void>;
  /** Returns the index and the arrivals that feed the event stream. Resolves when the index is open. */
  readonly open: () => Promise<Pick<OpenIndex, 'index' | 'arrivals'>>;
  /** Stops the background work after one last pass, which may take five seconds, and closes the index. */
  readonly close: () => Promise<void>;
}

/** The interval between passes, in milliseconds. It is long enough that a batch justifies its transaction. */
const POLL_MS = 500;
/** The interval while a client follows the audit log, short enough for an interactive reader. */
const WATCHED_POLL_MS = 200;
/** The longest pause on a busy machine while a client follows the audit log, in milliseconds. */
const WATCHED_PAUSE_MS = 100;
/** The first pass is delayed, so that opening the index does not delay the first health checks. */
const OPEN_AFTER_MS = 100;
const PRUNE_MS = 3_600_000;
const RETRY_MS = 5_000;
/** The longest time that a stop waits for the index, in milliseconds. The next start fills in what is left. */
const CLOSE_MS_MAX = 5_000;
const INDEXING_FAILED = 'the audit index could not be brought up to date, and is tried again';
const FILLED_LATER = 'the audit index is filled at the next start';
const SHORTENED =
  'the audit journal lacks records of a writer that the index contains; run `customshouse audit verify`, and restore the files from a backup';
const DAY_MS = 86_400_000;

interface OpenIndex {
  readonly index: AuditIndex;
  readonly arrivals: ArrivalNotifier;
  readonly sync: () => Promise<number>;
  readonly prune: (beforeMs: number) => Promise<number>;
}

/**
 * Opens the index and fills it in the background, one step at a time. Steps yield the processor to other work
 * unless a caller waits for the index. A fault never stops the service, because decisions depend on the journal
 * alone: the fault is logged, and the step is retried.
 */
export function openIndexFiller(options: {
  /** `null` for a service without an index, of which only the spool is imported. */
  readonly index_address: IndexAddress | null;
  readonly journal_dir: string;
  readonly journal: Journal;
  readonly max_age_days: number;
  readonly state_dir: string;
  readonly now_ms: () => number;
  readonly watch: IndexWatcher;
  readonly state_watch?: StateWatch;
  readonly log: Log;
  /** In milliseconds; `CLOSE_MS_MAX` if it is left out. */
  readonly close_ms_max?: number;
}): IndexFiller {
  let opened: OpenIndex | null = null;
  const opening = createLazyValue(() => openAll(options, runs.begin));
  const inTurn = openSerialQueue();
  const isWatched = options.watch.isActive;
  const throttle = openThrottle(undefined, () => (isWatched() ? WATCHED_PAUSE_MS : PAUSE_MS_MAX));
  const maintainIndex = openIndexMaintenance(options);
  const runs = openStoppableRuns(throttle);

  async function open(): Promise<OpenIndex> {
    opened = await opening.open();
    return opened;
  }

  async function sync(): Promise<void> {
    // Two concurrent calls would chain a file twice, and one of them would miss it.
    await inTurn(() => drainAndInspect(options));
    if (options.index_address !== null) await (await open()).sync();
  }

  async function step(): Promise<void> {
    await sync();
    if (opened === null) return;
    await opened.arrivals.poll();
    await maintainIndex(opened);
  }

  const background = repeatStep(
    step,
    () => (isWatched() ? WATCHED_POLL_MS : POLL_MS),
    (error) => {
      if (!(error instanceof IndexingStopped)) options.log.error(INDEXING_FAILED, describeFault(error));
    },
  );

  return {
    ready: () => opened !== null || options.index_address === null,
    sync: () => throttle.hurry(sync),
    open,
    close: async () => {
      runs.stopAfter(options.close_ms_max ?? CLOSE_MS_MAX);
      await throttle.hurry(background.end);
      await throttle.hurry(sync).catch((error) => options.log.warn(FILLED_LATER, describeFault(error)));
      await opened?.index.close();
    },
  };
}

/** Imports the events of the spool, and reports what was not one. */
async function drainAndInspect({
  journal_dir: dir,
  journal,
  state_watch,
}: {
  readonly journal_dir: string;
  readonly journal: Journal;
  readonly state_watch?: StateWatch;
}): Promise<void> {
  const { refused } = await drainSpool({ dir, journal });
  await state_watch?.inspect(refused.map((name) => `journal/spool/${name}`));
}

/** The service stops before the index has all events of the journal. */
class IndexingStopped extends Error {
  override readonly name = 'IndexingStopped';
  constructor() {
    super('the service stops before the index has all events');
  }
}

/** Ends the runs of a throttle between two batches once their time is over; each batch is one transaction. */
function openStoppableRuns({ begin }: Throttle) {
  let deadlineMs = Number.POSITIVE_INFINITY;
  return {
    begin: () => {
      const rest = begin();
      return async () => {
        if (performance.now() >= deadlineMs) throw new IndexingStopped();
        await rest();
      };
    },
    stopAfter: (delayMs: number) => {
      deadlineMs = performance.now() + delayMs;
    },
  };
}

function openIndexMaintenance(
  options: Parameters<typeof openPruning>[0] & Parameters<typeof openChainWarning>[0],
): (opened: OpenIndex) => Promise<void> {
  const pruneNowAndThen = openPruning(options);
  const warnOnce = openChainWarning(options);
  return async ({ index, prune }) => {
    await warnOnce(index);
    await pruneNowAndThen(prune);
  };
}

/**
 * Deletes from the index each hour the events that the journal has deleted by age, with the same clock. While there are
 * legal holds, the journal keeps older files, so the index keeps its events too.
 */
function openPruning(options: {
  now_ms: () => number;
  max_age_days: number;
  state_dir: string;
}): (prune: OpenIndex['prune']) => Promise<void> {
  const steadyNow = openSteadyClock(options);
  let prunedMs = Number.NEGATIVE_INFINITY;
  return async (prune) => {
    if (performance.now() - prunedMs < PRUNE_MS) return;
    prunedMs = performance.now();
    const nowMs = steadyNow();
    if (nowMs !== null && readLegalHolds(options.state_dir, Date.now())?.length === 0)
      await prune(nowMs - options.max_age_days * DAY_MS);
  };
}

/** Repeats a step until it is stopped. The next run starts after the previous one has ended. */
function repeatStep(
  step: () => Promise<void>,
  pollMs: () => number,
  onFault: (error: unknown) => void,
): { readonly end: () => Promise<void> } {
  let ended = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  function schedule(delayMs: number): void {
    if (ended) return;
    timer = setTimeout(() => {
      running = step().then(
        () => schedule(pollMs()),
        (error) => {
          onFault(error);
          schedule(RETRY_MS);
        },
      );
    }, delayMs);
  }
  schedule(OPEN_AFTER_MS);
  return {
    end: async () => {
      ended = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

async function openAll(
  options: { index_address: IndexAddress | null; journal_dir: string; watch: IndexWatcher; log: Log },
  begin: Throttle['begin'],
): Promise<OpenIndex> {
  if (options.index_address === null) throw new AuditFailure('index_off', INDEX_OFF);
  const index = await openIndex(options.index_address);
  if (index.rebuilt) options.log.warn('the audit index was damaged, and is made again from the journal');
  const arrivals = await openArrivalNotifier(index, options.watch);
  const { sync, prune } = openIndexer({ index, dir: options.journal_dir, begin, arrivals });
  return { index, arrivals, sync, prune };
}

/**
 * Logs once each chain that is shorter than the index recorded. The service continues, because decisions need
 * no old records.
 */
function openChainWarning({ journal_dir, log }: { journal_dir: string; log: Log }) {
  let isCompared = false;
  return async (index: AuditIndex): Promise<void> => {
    if (isCompared) return;
    for (const chain of await findShortenedChains(index, journal_dir)) log.warn(SHORTENED, { ...chain });
    isCompared = true;
  };
}
