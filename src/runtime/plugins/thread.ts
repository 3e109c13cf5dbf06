/** The thread that loads one plug-in. It imports the file and returns its exports as JSON. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadReply } from './run.ts';

const JSON_CHARS_MAX = 8_388_608;

async function importPlugin(href: string): Promise<ThreadReply> {
  try {
    const module = (await import(href)) as { readonly default?: unknown };
    if (module.default === undefined) return { ok: false, reason: 'has no default export' };
    return getData(module.default);
  } catch (error) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { ok: false, reason: `threw when it was loaded (${what})` };
  }
}

/**
 * Converts the exports to JSON. Records are data, so a value that JSON would silently drop is an error. The
 * `open` function of a driver becomes a placeholder.
 */
function getData(exported: unknown): ThreadReply {
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

// The time limit starts here, because a slow thread start on a busy machine is not the plug-in's fault.
parentPort?.postMessage('begins');
parentPort?.postMessage(await importPlugin((workerData as { readonly href: string }).href));
