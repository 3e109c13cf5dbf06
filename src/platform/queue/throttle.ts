import { setImmediate as nextTurn } from 'node:timers/promises';

/** Slows background work down while the machine is busy, unless a caller waits for the work. */
export interface Throttle {
  /**
   * Begins a stretch of work. The returned function is called between two pieces of it and resolves when the next piece
   * may begin: at once if the CPU is idle, later if other work needs it.
   */
  readonly begin: () => () => Promise<void>;
  /** Runs a task that a caller waits for. There are no pauses until it has ended. */
  readonly hurry: <Result>(task: () => Promise<Result>) => Promise<Result>;
}

/** The clocks of the process. Both are monotonic, in milliseconds. */
export interface ThrottleClocks {
  readonly now_ms: () => number;
  /** The CPU time that this thread has used. */
  readonly cpu_ms: () => number;
}

/** The share of the CPU time that file waits and clock resolution may add without other work on the machine. */
const OWN_WAIT = 0.1;
/** The factor between the time that other work held the CPU and the pause. */
const PAUSE_FACTOR = 20;
/** The maximum pause, in milliseconds, regardless of the load. */
export const PAUSE_MS_MAX = 2_000;

/**
 * Opens a throttle. If a piece of work took longer than its CPU time, other work had the CPU or the disk. Then the
 * throttle pauses for a multiple of that time. Background work thus gets all of an idle machine and a twentieth of a
 * busy one. Unlike a process priority, this affects one part of a process, is not inherited, and can be revoked.
 *
 * @param getPauseMsMax - returns the maximum pause, in milliseconds; called before each pause
 */
export function openThrottle(
  clocks: ThrottleClocks = PROCESS,
  getPauseMsMax: () => number = () => PAUSE_MS_MAX,
): Throttle {
  const paused = new Set<() => void>();
  let hurried = 0;

  function pauseFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        paused.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      paused.add(wake);
    });
  }

  return {
    begin: () => {
      let since = { now_ms: clocks.now_ms(), cpu_ms: clocks.cpu_ms() };
      return async () => {
        const usedMs = clocks.cpu_ms() - since.cpu_ms;
        const blockedMs = clocks.now_ms() - since.now_ms - usedMs * (1 + OWN_WAIT);
        const pauseMs = Math.min(getPauseMsMax(), Math.floor(PAUSE_FACTOR * blockedMs));
        if (hurried === 0 && pauseMs > 0) await pauseFor(pauseMs);
        else await nextTurn();
        since = { now_ms: clocks.now_ms(), cpu_ms: clocks.cpu_ms() };
      };
    },
    hurry: async (task) => {
      hurried += 1;
      for (const wake of paused) wake();
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
