import { StartFailure } from './failure.ts';
import { describeFault, type Log } from './log.ts';
import { Unavailable } from './unavailable.ts';

/**
 * Awaits an answer from another process. Replaces an error by `Unavailable` with `message` and logs the cause. Rethrows
 * a `StartFailure` unchanged.
 */
export async function requireAnswer<Answer>(
  question: Promise<Answer>,
  log: Log,
  message: string,
): Promise<Answer> {
  try {
    return await question;
  } catch (fault) {
    if (fault instanceof StartFailure) throw fault;
    log.warn('a question to the whole service has no answer', describeFault(fault));
    throw new Unavailable(message, fault);
  }
}
