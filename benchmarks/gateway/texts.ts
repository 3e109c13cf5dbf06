import { FRESH } from '../measure.ts';

/** The texts of requests and responses: ordinary text in which no detector finds anything. */

const SENTENCE =
  'The quarterly review covers shipping times, open tickets and the plan for the next release. ';

export const TEXT = SENTENCE.repeat(12).slice(0, 1_024);

/**
 * Returns a body of about `textBytes` bytes in the format of OpenAI's chat completions. No two requests have
 * the same body.
 */
export function chatBody(textBytes: number, isStream = false): string {
  const content = SENTENCE.repeat(Math.ceil(textBytes / SENTENCE.length)).slice(0, textBytes);
  const messages = [{ role: 'user', content: `Question ${FRESH}. ${content}` }];
  return JSON.stringify({ model: 'gpt-5', ...(isStream ? { stream: true } : {}), messages });
}
