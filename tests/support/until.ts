import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: a condition that holds in a moment on an idle machine takes seconds on a busy one. */
const PATIENCE_MS = 60_000;

/**
 * Waits until the condition holds; fails after a minute.
 * @param what - the condition in words, for the failure
 * @param everyMs - the pause between two tries, in milliseconds
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = 'what the test waits for',
  everyMs = 20,
): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`did not come in ${PATIENCE_MS} ms: ${what}`);
    await sleep(everyMs);
  }
}
