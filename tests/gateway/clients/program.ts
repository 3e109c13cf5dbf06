import { createInterface } from 'node:readline';
import type { Ask, Seen, SeenError } from './ask.ts';

/** What an ask comes to while it goes on. */
export interface Seeing {
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
 * Answers asks from standard input, side by side, until it ends.
 * @param run asks the SDK and notes what comes of it; an error of the SDK is thrown on
 * @param describe reads such an error
 */
export function answerAsks(
  run: (ask: Ask, seeing: Seeing) => Promise<void>,
  describe: (error: unknown) => SeenError | null,
): void {
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, ask } = JSON.parse(line) as { id: number; ask: Ask };
    const seeing: Seeing = {
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
    const seen: Seen = { ...seeing, error };
    process.stdout.write(`${JSON.stringify({ id, seen })}\n`);
  });
}

function unknown(error: unknown): SeenError {
  const { name, stack } = error as Error;
  return { name, status: null, code: null, type: null, message: String(stack), body: null };
}

/** Counts the events of a stream, and goes away when it is time to. */
export function leaver({ leave_after }: Ask, seeing: Seeing): { signal: AbortSignal; onEvent: () => void } {
  const leaving = new AbortController();
  let events = 0;
  const leave = (): void => {
    seeing.left = true;
    leaving.abort();
  };
  // The request is on its way by then.
  if (leave_after === 0) setTimeout(leave, 200);
  const onEvent = (): void => {
    events += 1;
    if (events === leave_after) leave();
  };
  return { signal: leaving.signal, onEvent };
}

/** What the tool gives back to the n-th call, where the conversation is to go on. */
export function resultOf({ results }: Ask, { calls }: Seeing, at: number): string {
  return results[at] ?? `no result for call ${at} of ${calls.length}`;
}
