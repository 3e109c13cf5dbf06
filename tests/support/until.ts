import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: a condition that holds in a moment on an idle machine takes seconds on a busy one. */
const PATIENCE_MS = 60_000;

/**
 * Waits until the condition holds; fails after a minute.
 * @param what - the condition in words, for the failure
 * @param every_ms - the pause between two tries, in milliseconds
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = 'what the test waits for',
  every_ms = 20,
): Promise<void> {
  const deadline_ms = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline_ms) throw new Error(`did not come in ${PATIENCE_MS} ms: ${what}`);
    await sleep(every_ms);
  }
}
