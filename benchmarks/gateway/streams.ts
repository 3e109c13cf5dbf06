/**
 * Opens a number of concurrent streams through a gateway, and prints as JSON the time of each first text and
 * the failures. `run.ts` starts it with: url, concurrency, total streams, pieces of each, milliseconds
 * between them, headers as JSON.
 */
import { Agent, request } from 'node:http';
import { FRESH } from '../measure.ts';
import { chatBody } from './texts.ts';

const [url = '', concurrency = '1', total = '1', pieces = '8', gapMs = '5', more = '{}'] =
  process.argv.slice(2);
let count = 0;
/** Numbers of one length, so that all bodies have the same length. */
const getBody = (): string => chatBody(1_024, true).replace(FRESH, String(1_000_000 + count++));
const headers = {
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(getBody())),
  authorization: 'Bearer bench',
  'x-bench-pieces': pieces,
  'x-bench-gap-ms': gapMs,
  ...(JSON.parse(more) as Record<string, string>),
};
const agent = new Agent({ keepAlive: true, maxSockets: Number(concurrency) });

interface Outcome {
  readonly first_text_ms: number | null;
  readonly error: string | null;
}

/** Reads one stream to its end. The first text is the first event with content that is not empty. */
function stream(): Promise<Outcome> {
  return new Promise((resolve) => {
    const began = performance.now();
    let firstTextMs: number | null = null;
    let tail = '';
    const asked = request(url, { method: 'POST', headers, agent }, (answer) => {
      answer.on('data', (bytes: Buffer) => {
        tail = tail.slice(-256) + bytes.toString('latin1');
        if (firstTextMs === null && /"content":"[^"]/.test(tail)) firstTextMs = performance.now() - began;
      });
      answer.once('end', () => {
        const isWhole = answer.statusCode === 200 && tail.includes('[DONE]');
        resolve({
          first_text_ms: firstTextMs,
          error: isWhole ? null : `status ${answer.statusCode}, cut off`,
        });
      });
      answer.once('error', (fault) => resolve({ first_text_ms: firstTextMs, error: fault.message }));
    });
    asked.once('error', (fault) => resolve({ first_text_ms: firstTextMs, error: fault.message }));
    asked.end(getBody());
  });
}

const outcomes: Outcome[] = [];
let left = Number(total);
async function one(): Promise<void> {
  while (left-- > 0) outcomes.push(await stream());
}
await Promise.all(Array.from({ length: Number(concurrency) }, one));
agent.destroy();
const times = outcomes.flatMap(({ first_text_ms }) => (first_text_ms === null ? [] : [first_text_ms]));
const errors = outcomes.flatMap(({ error }) => (error === null ? [] : [error]));
process.stdout.write(`${JSON.stringify({ times, errors: errors.length, first_error: errors[0] ?? null })}\n`);
