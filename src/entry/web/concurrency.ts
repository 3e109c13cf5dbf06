import { Refusal } from '../../operations/operation.ts';

/**
 * Maximum number of requests of one kind of route that one worker answers at a time. More would wait for the disk or a
 * provider.
 */
const REQUESTS_MAX = 2_048;

/** Sheds load: a worker at its limit refuses further requests at once. */
export interface ConcurrencyLimit {
  /** Returns the refusal for a new request, or `null` while there is capacity. Called before the body is read. */
  readonly refusal: () => Refusal | null;
  /** Runs one request's work. @throws Refusal `unavailable` at the limit */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Creates the limit for one kind of route: the number of requests that it answers at a time. */
export function limitConcurrency(requestsMax = REQUESTS_MAX): ConcurrencyLimit {
  let running = 0;
  const refusal = (): Refusal | null =>
    running < requestsMax
      ? null
      : new Refusal('unavailable', `This worker is answering ${requestsMax} requests already. Try again.`);
  return {
    refusal,
    run: async (work) => {
      const refused = refusal();
      if (refused !== null) throw refused;
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
}

/** No limit, for health checks: they must distinguish a busy service from a dead one. */
export const UNLIMITED_CONCURRENCY: ConcurrencyLimit = { refusal: () => null, run: (work) => work() };
