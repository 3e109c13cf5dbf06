import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { describeStoreFault } from './lazy.ts';

/** A periodic job that one process of a service runs, such as deleting expired rows. */
export interface MaintenanceJob {
  /** The name in the log, such as `approvals: end what has run out`. */
  readonly name: string;
  /**
   * The delay from the end of one run to the start of the next, in milliseconds. The first run starts after one delay.
   */
  readonly every_ms: number;
  /** Its data is in the state folder, so each node runs it. Any other job runs on one node. */
  readonly runs_on_each_node?: true;
  /** Processes one batch of bounded size. Returns `true` if more work remains; the next batch then follows shortly. */
  readonly run: () => Promise<boolean>;
}

export interface MaintenanceLoop {
  /** Starts no more jobs. Resolves when the current job has ended, or after five seconds. */
  readonly close: () => Promise<void>;
}

/** The delay between two batches, in milliseconds, which lets other transactions run. */
const BREATH_MS = 50;
const CLOSE_MS = 5_000;

/**
 * Runs maintenance jobs, one at a time, until it is closed. A failed job is logged and runs again at its next turn.
 *
 * @param takeJob - returns whether this node runs the job of that name now
 */
export function startMaintenance(
  jobs: readonly MaintenanceJob[],
  log: Pick<Log, 'error'>,
  takeJob: (name: string) => Promise<boolean> = async () => true,
): MaintenanceLoop {
  const timers = new Set<NodeJS.Timeout>();
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const plan = (job: MaintenanceJob, delayMs: number): void => {
    if (isClosed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      last = last.then(() => doOne(job));
    }, delayMs);
    timers.add(timer.unref());
  };
  const doOne = async (job: MaintenanceJob): Promise<void> => {
    if (isClosed) return;
    let hasMore = false;
    try {
      const isOwn = job.runs_on_each_node === true || (await takeJob(job.name));
      hasMore = isOwn && (await job.run());
    } catch (fault) {
      log.error('a maintenance job failed and will be tried again', {
        job: job.name,
        ...describeStoreFault(fault),
      });
    }
    plan(job, hasMore ? BREATH_MS : job.every_ms);
  };
  for (const job of jobs) plan(job, job.every_ms);
  return {
    close: async () => {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      const late = new AbortController();
      const waited = sleep(CLOSE_MS, null, { signal: late.signal }).catch(() => {});
      await Promise.race([last, waited]);
      late.abort();
    },
  };
}
