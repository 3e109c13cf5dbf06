import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  limitValue,
  type SecretBackend,
  SecretFailure,
  type SecretFailureCode,
} from '../../drivers/secrets/backend.ts';
import type { DriverFile } from './driver-file.ts';
import type { DriverData, DriverRequest, DriverResponse } from './driver-messages.ts';

/** Selects the driver of a plug-in, with its settings. */
export interface DriverSpec {
  readonly file: DriverFile;
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

const MEMORY_MB_MAX = 256;
/** The time after which a thread is ended if it sends nothing after a cancelled request, in milliseconds. */
const STUCK_MS = 1_000;
/** The shortest time between the end of a thread and its restart, in milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Opens a secret backend whose driver is in a plug-in. The code runs in its own thread, which starts with the
 * first request and restarts after it has ended. A driver that throws, hangs or uses up its memory fails only
 * the requests to it. Only the code of its errors is reported.
 */
export function openDriver(wanted: DriverSpec): SecretBackend {
  let running: Begun | null = null;
  let ended: { readonly again_ms: number; readonly failed: SecretFailure } | null = null;
  let isClosed = false;

  function getThread(): Begun {
    if (running !== null) return running;
    const begun = spawnThread(wanted, (failed) => {
      if (running === begun) running = null;
      ended = { again_ms: performance.now() + AGAIN_MS, failed };
    });
    running = begun;
    return begun;
  }

  async function requestSecret(
    question: 'get' | 'check',
    key: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (isClosed) throw buildDriverFailure('secrets_unavailable');
    if (running === null && ended !== null && performance.now() < ended.again_ms) throw ended.failed;
    const begun = getThread();
    const queryThread = await limitTime(begun.opened, signal, () =>
      begun.end(buildDriverFailure('secrets_timeout')),
    );
    return queryThread(question, key, signal);
  }

  return {
    get: async (key, signal) => {
      const value = await requestSecret('get', key, signal);
      return value === null ? null : limitValue(value);
    },
    check: async (signal) => void (await requestSecret('check', '', signal)),
    close: () => {
      isClosed = true;
      running?.end(buildDriverFailure('secrets_unavailable'));
    },
  };
}

type QueryThread = (question: 'get' | 'check', key: string, signal: AbortSignal) => Promise<string | null>;

interface Begun {
  /** Resolves when the driver is open. Rejects with a `SecretFailure`. */
  readonly opened: Promise<QueryThread>;
  /** Ends the thread once, and rejects all pending requests with the failure. */
  readonly end: (failed: SecretFailure) => void;
}

interface PendingSecret {
  readonly resolve: (value: string | null) => void;
  readonly reject: (failure: SecretFailure) => void;
}

function spawnThread(wanted: DriverSpec, onEnd: (failed: SecretFailure) => void): Begun {
  const waiting = new Map<number, PendingSecret>();
  let worker: Worker | null = null;
  let over: SecretFailure | null = null;
  let rejectOpening: (failed: SecretFailure) => void = () => {};
  const end = (failed: SecretFailure): void => {
    if (over !== null) return;
    over = failed;
    onEnd(failed);
    rejectOpening(failed);
    for (const { reject } of waiting.values()) reject(failed);
    waiting.clear();
    void worker?.terminate();
  };
  const open = async (): Promise<QueryThread> => {
    await assertUnchanged(wanted.file);
    if (over !== null) throw over;
    worker = startThread(wanted);
    await new Promise<void>((resolve, reject) => {
      rejectOpening = reject;
      worker?.on('message', (answer: DriverResponse) => {
        if (!('opened' in answer)) return;
        if (answer.opened === true) resolve();
        else end(buildDriverFailure(answer.code, 'secrets_setup'));
      });
      // The driver threw an uncaught error, used too much memory, or exited.
      worker?.once('error', () => end(buildDriverFailure('secrets_unavailable')));
      worker?.once('exit', () => end(buildDriverFailure('secrets_unavailable')));
    });
    return createQueryThread(worker, waiting, end);
  };
  const opened = open().catch((error: SecretFailure) => {
    end(error);
    throw error;
  });
  opened.catch(() => {});
  return { opened, end };
}

function startThread({ file, name, settings }: DriverSpec): Worker {
  const workerData: DriverData = { href: pathToFileURL(file.path).href, driver: name, settings };
  // The TypeScript source and the compiled program have the same layout and differ in the file extension.
  const worker = new Worker(new URL(`./driver-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

function createQueryThread(
  worker: Worker,
  waiting: Map<number, PendingSecret>,
  end: Begun['end'],
): QueryThread {
  let request = 0;
  let received = 0;
  worker.on('message', (answer: DriverResponse) => {
    received += 1;
    if ('opened' in answer || 'left' in answer) return;
    const who = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (who === undefined) return;
    if ('code' in answer) who.reject(buildDriverFailure(answer.code));
    else if (answer.value === null || typeof answer.value === 'string') who.resolve(answer.value);
    else who.reject(buildDriverFailure('secrets_answer'));
  });
  return (requestSecret, key, signal) => {
    request += 1;
    const id = request;
    const answered = new Promise<string | null>((resolve, reject) => waiting.set(id, { resolve, reject }));
    sendQuestion(worker, { id, ask: requestSecret, key });
    return limitTime(answered, signal, () => {
      waiting.delete(id);
      sendQuestion(worker, { id, ask: 'leave' });
      const receivedBefore = received;
      setTimeout(() => {
        if (received === receivedBefore) end(buildDriverFailure('secrets_timeout'));
      }, STUCK_MS).unref();
    });
  };
}

function sendQuestion(worker: Worker, question: DriverRequest): void {
  worker.postMessage(question);
}

/** Returns the same promise, but rejects as soon as the signal aborts. */
function limitTime<Value>(answered: Promise<Value>, signal: AbortSignal, late: () => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onTimeout = (): void => {
      late();
      reject(buildDriverFailure('secrets_timeout'));
    };
    if (signal.aborted) return onTimeout();
    signal.addEventListener('abort', onTimeout, { once: true });
    const settle = () => signal.removeEventListener('abort', onTimeout);
    answered.then(resolve, reject).finally(settle);
  });
}

/** Ensures that the executed file is the one that was checked. */
async function assertUnchanged({ path, sha256 }: DriverFile): Promise<void> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes !== null && createHash('sha256').update(bytes).digest('hex') === sha256) return;
  throw new SecretFailure(
    'secrets_setup',
    'is of a plug-in whose file was changed since it was opened; start the service again',
  );
}

/** The message for each code. The driver's own message may contain the value that it read. */
const PREDICATES: Readonly<Record<SecretFailureCode, string>> = {
  secrets_unavailable: 'cannot be reached, or its driver failed',
  secrets_timeout: 'did not answer in time',
  secrets_denied: 'does not accept the credentials, or they may not read this',
  secrets_answer: 'gave what is no text',
  secrets_setup: 'cannot be opened by its driver; see `secrets.plugin.settings`',
};

/** @param otherwise - the code to use if `code` is not one of ours */
function buildDriverFailure(
  code: string,
  otherwise: SecretFailureCode = 'secrets_unavailable',
): SecretFailure {
  const known = Object.hasOwn(PREDICATES, code) ? (code as SecretFailureCode) : otherwise;
  return new SecretFailure(known, PREDICATES[known]);
}
