import { StartFailure } from './failure.ts';
import { describeFault, type Log } from './log.ts';
import { Unavailable } from './unavailable.ts';

/** Says in words of ours that a question has no answer, and lets the log say why. A failure that has such words keeps them. */
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
