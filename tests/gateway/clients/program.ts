import { createInterface } from 'node:readline';
import type { Ask, ClientReading, SeenError } from './ask.ts';

/** The results of a request while it runs. */
export interface SightProgram {
  text: string | null;
  thinking: string | null;
  refusal: string | null;
  finish: string | null;
  usage: [number | null, number | null] | null;
  calls: { tool: string; arguments: unknown }[];
  turns: number;
  pieces: number;
  list: (number | string)[] | null;
  left: boolean;
}

/**
 * Answers requests from standard input concurrently until it ends.
 * @param run calls the SDK and notes the results; it rethrows errors of the SDK
 * @param describe describes such an error
 */
export function answerAsks(
  run: (ask: Ask, seeing: SightProgram) => Promise<void>,
  describe: (error: unknown) => SeenError | null,
): void {
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, ask } = JSON.parse(line) as { id: number; ask: Ask };
    const seeing: SightProgram = {
      text: null,
      thinking: null,
      refusal: null,
      finish: null,
      usage: null,
      calls: [],
      turns: 0,
      pieces: 0,
      list: null,
      left: false,
    };
    let error: SeenError | null = null;
    try {
      await run(ask, seeing);
    } catch (thrown) {
      if (!seeing.left) error = describe(thrown) ?? unknown(thrown);
    }
    const seen: ClientReading = { ...seeing, error };
    process.stdout.write(`${JSON.stringify({ id, seen })}\n`);
  });
}

function unknown(error: unknown): SeenError {
  const { name, stack } = error as Error;
  return { name, status: null, code: null, type: null, message: String(stack), body: null };
}

/** Counts the events of a stream, and aborts after the configured number. */
export function leaver(
  { leave_after }: Ask,
  seeing: SightProgram,
): { signal: AbortSignal; onEvent: () => void } {
  const leaving = new AbortController();
  let events = 0;
  const leave = (): void => {
    seeing.left = true;
    leaving.abort();
  };
  // The request has been sent by then.
  if (leave_after === 0) setTimeout(leave, 200);
  const onEvent = (): void => {
    events += 1;
    if (events === leave_after) leave();
  };
  return { signal: leaving.signal, onEvent };
}

/** Returns the result of the n-th tool call, if the conversation continues. */
export function getResult({ results }: Ask, { calls }: SightProgram, at: number): string {
  return results[at] ?? `no result for call ${at} of ${calls.length}`;
}
