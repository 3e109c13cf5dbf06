import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Json } from '../../core/types/index.ts';

/** The reply of the thread: the records of a plug-in as JSON, or the predicate of a sentence. */
export type ThreadReply =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly reason: string };

/** The result of loading a plug-in. */
export type PluginRunResult =
  | { readonly ok: true; readonly value: Json }
  | Extract<ThreadReply, { readonly ok: false }>;

const START_MS = 20_000;
const MEMORY_MB_MAX = 256;
const REASON_CHARS_MAX = 500;

/**
 * Runs the file of a plug-in in its own thread, and ends the thread. Only data remains of it. A plug-in that
 * exceeds its time or memory, or ends the thread, returns a reason instead. The plug-in sees no environment
 * variables, and its output is discarded.
 */
export async function runPlugin(path: string, timeoutMs: number): Promise<PluginRunResult> {
  // The TypeScript source and the compiled program have the same layout and differ in the file extension.
  const thread = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: { href: pathToFileURL(path).href },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  thread.stdout.resume();
  thread.stderr.resume();
  let timer: NodeJS.Timeout | undefined;
  const reported = await new Promise<ThreadReply>((resolve) => {
    const leftOut = (reason: string) => resolve({ ok: false, reason });
    timer = setTimeout(() => leftOut('got no thread to be loaded in'), START_MS);
    thread.once('message', () => {
      clearTimeout(timer);
      timer = setTimeout(() => leftOut(`was not loaded within ${timeoutMs} ms`), timeoutMs);
      thread.once('message', resolve);
    });
    thread.once('messageerror', () => leftOut('gave what is no data'));
    thread.once('error', (error: NodeJS.ErrnoException) => leftOut(getFailure(error)));
    thread.once('exit', () => leftOut('ended before it gave its records'));
  });
  clearTimeout(timer);
  await thread.terminate();
  return readReply(reported);
}

function getFailure(error: NodeJS.ErrnoException): string {
  if (error?.code === 'ERR_WORKER_OUT_OF_MEMORY') return `took more than ${MEMORY_MB_MAX} MB of memory`;
  return `threw while it was loaded (${error?.message ?? error})`;
}

/** Reads the reply as untrusted input, because a plug-in can send messages on behalf of the thread. */
function readReply(reported: ThreadReply): PluginRunResult {
  try {
    if (reported.ok) return { ok: true, value: JSON.parse(reported.json) as Json };
    const reason = String(reported.reason).replaceAll(/\p{Cc}+/gu, ' ');
    return { ok: false, reason: reason.slice(0, REASON_CHARS_MAX) };
  } catch {
    return { ok: false, reason: 'gave what is no data' };
  }
}
