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
export function endSlowChildren(childMsMax = CHILD_MS_MAX, lookEveryMs = LOOK_EVERY_MS): () => void {
  let seenMs = new Map<number, number>();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    seenMs = new Map(listChildren().map((pid) => [pid, seenMs.get(pid) ?? nowMs]));
    for (const [pid, firstMs] of seenMs) if (nowMs - firstMs > childMsMax) process.kill(pid, 'SIGKILL');
  }, lookEveryMs);
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
