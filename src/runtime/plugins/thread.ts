/** The thread that loads one plug-in: it imports the file, and gives what that exports as JSON. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadReply } from './run.ts';

const JSON_CHARS_MAX = 8_388_608;

async function told(href: string): Promise<ThreadReply> {
  try {
    const module = (await import(href)) as { readonly default?: unknown };
    if (module.default === undefined) return { ok: false, reason: 'has no default export' };
    return dataOf(module.default);
  } catch (error) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { ok: false, reason: `threw when it was loaded (${what})` };
  }
}

/** Records are data: what JSON would leave out without a word is told. How a driver is opened stands as a word. */
function dataOf(exported: unknown): ThreadReply {
  let reason: string | null = null;
  const { drivers } = (exported ?? {}) as { readonly drivers?: unknown };
  const json = JSON.stringify(exported, function (this: unknown, key: string, value: unknown) {
    if (key === 'open' && typeof value === 'function' && Array.isArray(drivers) && drivers.includes(this))
      return 'function';
    const kind = value instanceof RegExp ? 'regular expression' : typeof value;
    if (NO_DATA.includes(kind))
      reason ??= `has a ${kind} as \`${key}\`; records are plain data: patterns are texts in the syntax of RE2, and \`checks\` names what a value must pass`;
    return value;
  });
  if (reason !== null) return { ok: false, reason };
  if (json === undefined) return { ok: false, reason: 'exports nothing that is plain data' };
  if (json.length > JSON_CHARS_MAX)
    return { ok: false, reason: `gives more than ${JSON_CHARS_MAX} characters of records` };
  return { ok: true, json };
}

const NO_DATA = ['regular expression', 'function', 'symbol', 'bigint'];

// Its time begins now: starting a thread on a busy machine is none of the plug-in's doing.
parentPort?.postMessage('begins');
parentPort?.postMessage(await told((workerData as { readonly href: string }).href));
