import { readFileSync } from 'node:fs';

/** No test file should need a tenth of it. */
const CHILD_MS_MAX = 10 * 60_000;
const LOOK_EVERY_MS = 5_000;

/**
 * Ends each child of this process that runs for too long, even one in an endless loop. Node's `timeout` ends a test, but
 * neither such a loop nor a file that stays open after its tests. Its `forceExit` can lose the results of a file. Does
 * nothing where there is no `/proc`.
 *
 * @returns a function that ends the watch
 */
export function endSlowChildren(child_ms_max = CHILD_MS_MAX, look_every_ms = LOOK_EVERY_MS): () => void {
  let seen_ms = new Map<number, number>();
  const timer = setInterval(() => {
    const now_ms = performance.now();
    seen_ms = new Map(listChildren().map((pid) => [pid, seen_ms.get(pid) ?? now_ms]));
    for (const [pid, first_ms] of seen_ms) if (now_ms - first_ms > child_ms_max) process.kill(pid, 'SIGKILL');
  }, look_every_ms);
  return () => clearInterval(timer);
}

function listChildren(): number[] {
  try {
    const { pid } = process;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
