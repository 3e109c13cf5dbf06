/** A function that runs requests in batches, so that many requests share one wait for the disk. */
export type BatchQueue<Request, Answer> = (request: Request) => Promise<Answer>;

/** The number of requests that one batch holds at most. */
const BATCH_MAX = 64;

/**
 * Opens a queue that passes requests to `work`, one batch at a time and in the order of their arrival. Requests that
 * arrive while a batch runs go into the next one; no request waits for a batch to fill. If a batch fails, all of its
 * requests fail.
 *
 * @param waitingMax the number of requests that may wait; more are rejected with the error that `full` returns
 */
export function openBatchQueue<Request, Answer>(
  work: (batch: readonly Request[]) => Promise<readonly Answer[]>,
  waitingMax: number,
  full: () => Error,
): BatchQueue<Request, Answer> {
  interface Waiting {
    readonly request: Request;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (fault: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let isBusy = false;

  const run = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      try {
        const answers = await work(batch.map(({ request }) => request));
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at]!);
      } catch (fault) {
        for (const { reject } of batch) reject(fault);
      }
    }
    isBusy = false;
  };
  return (request) => {
    if (waiting.length >= waitingMax) return Promise.reject(full());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.push({ request, resolve, reject });
    if (!isBusy) void run();
    return promise;
  };
}
