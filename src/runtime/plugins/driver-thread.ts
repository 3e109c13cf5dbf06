/** The thread of a plug-in's driver. It opens the driver and answers requests until it ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { DriverData, DriverRequest, DriverResponse } from './driver-messages.ts';

/** The part of the result of a plug-in's `open` that is used. */
interface OpenDriver {
  readonly get: (key: string, signal: AbortSignal) => unknown;
  readonly check?: (signal: AbortSignal) => unknown;
}

interface Module {
  readonly default?: {
    readonly drivers?: readonly { readonly name: string; readonly open: (settings: object) => unknown }[];
  };
}

const { href, driver, settings } = workerData as DriverData;
const say = (answer: DriverResponse): void => parentPort?.postMessage(answer);

async function openDriverModule(): Promise<OpenDriver> {
  const module = (await import(href)) as Module;
  const record = module.default?.drivers?.find(({ name }) => name === driver);
  if (record === undefined) throw new Error('there is no such driver');
  return (await record.open(settings)) as OpenDriver;
}

/** Returns the code of a driver's error. The message may contain a secret, so it is never sent. */
function getCode(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code);
}

async function answerDriverRequest(
  opened: OpenDriver,
  { id, ask, key }: Exclude<DriverRequest, { ask: 'leave' }>,
  signal: AbortSignal,
) {
  try {
    const given = await (ask === 'get' ? opened.get(key, signal) : opened.check?.(signal));
    const value = ask === 'get' ? given : null;
    if (value === null || value === undefined) say({ id, value: null });
    else if (typeof value === 'string') say({ id, value });
    else say({ id, code: 'secrets_answer' });
  } catch (error) {
    say({ id, code: getCode(error) });
  }
}

try {
  const opened = await openDriverModule();
  const request = new Map<number, AbortController>();
  parentPort?.on('message', (question: DriverRequest) => {
    if (question.ask === 'leave') {
      request.get(question.id)?.abort();
      // The reply shows that the thread is not stuck.
      return say({ id: question.id, left: true });
    }
    const controller = new AbortController();
    request.set(question.id, controller);
    void answerDriverRequest(opened, question, controller.signal).finally(() => request.delete(question.id));
  });
  say({ opened: true });
} catch (error) {
  say({ opened: false, code: getCode(error) });
}
