import { Refusal } from '../../operations/operation.ts';

/** Requests that one worker answers at a time, for each kind of route. More wait for the disk or a provider. */
const REQUESTS_MAX = 2_048;

/** Sheds load: a worker that answers as many requests as it may refuses further ones at once. */
export interface ConcurrencyLimit {
  /** The refusal for a new request, or `null` while there is room. Asked before the body is read. */
  readonly refusal: () => Refusal | null;
  /** Runs one request's work. @throws Refusal `unavailable` when there is no room */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Makes the limit for one kind of route: how many requests it answers at a time. */
export function limitConcurrency(requests_max = REQUESTS_MAX): ConcurrencyLimit {
  let running = 0;
  const refusal = (): Refusal | null =>
    running < requests_max
      ? null
      : new Refusal('unavailable', `This worker is answering ${requests_max} requests already. Try again.`);
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

/** No limit: for health checks, which tell that the service is busy and not dead. */
export const UNLIMITED: ConcurrencyLimit = { refusal: () => null, run: (work) => work() };
