import { setTimeout as sleep } from 'node:timers/promises';

const EVENTUALLY_MS = 60_000;

/** Retries until the attempt succeeds, for a minute. */
export async function eventually<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (const untilMs = Date.now() + EVENTUALLY_MS; ; await sleep(50)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > untilMs) throw error;
    }
  }
}
