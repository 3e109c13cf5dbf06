/** Does many things at once that would each wait for the disk. */
export type BatchQueue<Asked, Answer> = (asked: Asked) => Promise<Answer>;

/** Things that one batch does at most. */
const BATCH_MAX = 64;

/**
 * Has `work` do what was asked, one batch at a time and in the order of asking: what comes while a batch is under way
 * is in the next one, so that nobody waits for company. A batch that fails fails for all in it.
 *
 * @param waiting_max how many may wait; what comes then is refused by what `full` makes
 */
export function openBatchQueue<Asked, Answer>(
  work: (batch: readonly Asked[]) => Promise<readonly Answer[]>,
  waiting_max: number,
  full: () => Error,
): BatchQueue<Asked, Answer> {
  interface Waiting {
    readonly asked: Asked;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (fault: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let is_busy = false;

  const run = async (): Promise<void> => {
    is_busy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      try {
        const answers = await work(batch.map(({ asked }) => asked));
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at]!);
      } catch (fault) {
        for (const { reject } of batch) reject(fault);
      }
    }
    is_busy = false;
  };
  return (asked) => {
    if (waiting.length >= waiting_max) return Promise.reject(full());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.push({ asked, resolve, reject });
    if (!is_busy) void run();
    return promise;
  };
}
