import { setImmediate as nextTurn } from 'node:timers/promises';

/** How background work gives way: to the whole machine, and not to whoever waits for it. */
export interface Throttle {
  /**
   * Begins a stretch of work. The function that it gives is called between two pieces of it, and resolves when
   * the next may begin: at once where nothing else wants the processor, later where something does.
   */
  readonly begin: () => () => Promise<void>;
  /** Runs a task that someone waits for: until it has ended, nothing rests. */
  readonly hurry: <Result>(task: () => Promise<Result>) => Promise<Result>;
}

/** The clocks of the process; both only run forward, in milliseconds. */
export interface ThrottleClocks {
  readonly now_ms: () => number;
  /** What this thread has used of a processor. */
  readonly cpu_ms: () => number;
}

/** So much of what was used may be waiting for files and the grain of clocks, and is no sign of others. */
const OWN_WAIT = 0.1;
/** A rest is this many times as long as the work stood still for others. */
const REST_FACTOR = 20;
/** However busy the machine is, the work goes on in this time. */
export const PAUSE_MS_MAX = 2_000;

/**
 * Makes a pace. While a piece of work ran for longer than it used the processor, others had it, or the disk: then
 * the work rests for much longer than that. So it takes all of an idle machine and a twentieth of a busy one.
 * Other than a priority, this holds for one part of a process, is not inherited, and can be taken back.
 *
 * @param restMsMax - the longest rest, asked before each
 */
export function openThrottle(
  clocks: ThrottleClocks = PROCESS,
  restMsMax: () => number = () => PAUSE_MS_MAX,
): Throttle {
  const resting = new Set<() => void>();
  let hurried = 0;

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        resting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      resting.add(wake);
    });
  }

  return {
    begin: () => {
      let since = { now_ms: clocks.now_ms(), cpu_ms: clocks.cpu_ms() };
      return async () => {
        const used_ms = clocks.cpu_ms() - since.cpu_ms;
        const stood_ms = clocks.now_ms() - since.now_ms - used_ms * (1 + OWN_WAIT);
        const rest_ms = Math.min(restMsMax(), Math.floor(REST_FACTOR * stood_ms));
        if (hurried === 0 && rest_ms > 0) await rest(rest_ms);
        else await nextTurn();
        since = { now_ms: clocks.now_ms(), cpu_ms: clocks.cpu_ms() };
      };
    },
    hurry: async (task) => {
      hurried += 1;
      for (const wake of resting) wake();
      try {
        return await task();
      } finally {
        hurried -= 1;
      }
    },
  };
}

const PROCESS: ThrottleClocks = {
  now_ms: () => performance.now(),
  cpu_ms: () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
};
