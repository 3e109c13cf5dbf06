import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { describeStoreFault } from './lazy.ts';

/** Something that one process of a service does from time to time: deleting what has expired, and the like. */
export interface MaintenanceJob {
  /** For the log: `approvals: end what has run out`. */
  readonly name: string;
  /** From the end of one run to the beginning of the next. The first run is one such time after the start. */
  readonly every_ms: number;
  /** Does one batch of a bounded size. `true`: more is left, and is done after a moment. */
  readonly run: () => Promise<boolean>;
}

export interface MaintenanceLoop {
  /** Begins nothing more, and resolves when what was begun has ended, or after five seconds. */
  readonly close: () => Promise<void>;
}

/** Between two batches others have a turn at the store. */
const BREATH_MS = 50;
const CLOSE_MS = 5_000;

/**
 * Runs chores, one at a time, until it is closed. One that fails is told to the log and tried again when its time
 * comes round.
 */
export function startMaintenance(
  chores: readonly MaintenanceJob[],
  log: Pick<Log, 'error'>,
): MaintenanceLoop {
  const timers = new Set<NodeJS.Timeout>();
  let last: Promise<unknown> = Promise.resolve();
  let is_closed = false;

  const plan = (chore: MaintenanceJob, delay_ms: number): void => {
    if (is_closed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      last = last.then(() => doOne(chore));
    }, delay_ms);
    timers.add(timer.unref());
  };
  const doOne = async (chore: MaintenanceJob): Promise<void> => {
    if (is_closed) return;
    let has_more = false;
    try {
      has_more = await chore.run();
    } catch (fault) {
      log.error('a maintenance job failed and will be tried again', {
        chore: chore.name,
        ...describeStoreFault(fault),
      });
    }
    plan(chore, has_more ? BREATH_MS : chore.every_ms);
  };
  for (const chore of chores) plan(chore, chore.every_ms);
  return {
    close: async () => {
      is_closed = true;
      for (const timer of timers) clearTimeout(timer);
      const late = new AbortController();
      const waited = sleep(CLOSE_MS, null, { signal: late.signal }).catch(() => {});
      await Promise.race([last, waited]);
      late.abort();
    },
  };
}
