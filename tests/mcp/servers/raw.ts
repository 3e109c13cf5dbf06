/**
 * A server on standard input and output that writes its messages without a library, so that a test controls every
 * character. The JSON file `SCRIPT` has the text of the `result` of each method. `$PARAMS` in a text is replaced by the
 * text of the parameters as they were received.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { answerTo } from './raw-answer.ts';

/** The text of the `result` of each method. */
export type ResultTexts = Readonly<Record<string, string>>;

const results = JSON.parse(readFileSync(process.env.SCRIPT!, 'utf8')) as ResultTexts;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: number | string; method?: string };
  if (id === undefined || method === undefined) return;
  process.stdout.write(`${answerTo(results, id, method, line)}\n`);
});
