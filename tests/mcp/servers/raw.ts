/**
 * A server on standard input and output that writes its messages by itself, so that every character of them is its own: a
 * JSON file `SCRIPT` has the text of the `result` of each method. `$PARAMS` in one is the text of the parameters as they came.
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
