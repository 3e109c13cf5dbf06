import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Unavailable } from './unavailable.ts';

/** The only message of a process of `runApart`. */
type ApartAnswer = { readonly result: unknown } | { readonly error: string };

/** One job for another process. */
export interface ApartTask {
  /** The module that calls `answerApart`, without the extension: `new URL('./job-process', import.meta.url)`. */
  readonly program: URL;
  /** Plain data. */
  readonly request: unknown;
  /** The beginning of the error: `The policy was not linted`. */
  readonly failure: string;
  readonly minutes_max: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a job in a separate process with low priority, because decisions must not wait for it. The process ends with
 * this one, and has no environment but the compile cache.
 *
 * @throws Unavailable if the process fails, takes too long, or is stopped by the signal
 */
export function runApart({ program, request, failure, minutes_max, signal }: ApartTask): Promise<unknown> {
  // The TypeScript source and the compiled program have the same layout and differ in the file extension.
  const child = fork(`${fileURLToPath(program)}${extname(import.meta.url)}`, [], {
    ...{
      env: buildChildEnvironment(),
      execArgv: [],
      serialization: 'advanced',
      timeout: minutes_max * 60_000,
      killSignal: 'SIGKILL',
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    ...(signal !== undefined && { signal }),
  });
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Unavailable(`${failure}: ${reason}`, null));
    child.once('message', (answer: ApartAnswer) => {
      if ('result' in answer) resolve(answer.result);
      else fail(answer.error);
    });
    child.once('error', () => fail('the process was stopped, or did not start.'));
    child.once('exit', () =>
      fail(`the process ended before its result, or took more than ${minutes_max} minutes.`),
    );
    sendRequest(child, request, fail);
  });
}

/** Returns the environment for a process that runs our code: compiled code is reused, and nothing else is passed on. */
export function buildChildEnvironment(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

function sendRequest(child: ChildProcess, request: unknown, fail: (reason: string) => void): void {
  child.send(request as object, (error) => {
    if (error !== null) fail('the process could not be reached. Try again.');
  });
}

/**
 * The other side of `runApart`, for the main module of its process: receives one request, sends one answer, and ends;
 * also when the process that started it ends.
 */
export function answerApart<Request>(answer: (request: Request) => Promise<unknown>): void {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  // Ctrl-C at a terminal reaches this process too; the one that started it ends it.
  process.on('SIGINT', () => {});
  process.once('disconnect', () => process.exit(1));
  process.once('message', (request: Request) => {
    answer(request)
      .then((result): ApartAnswer => ({ result }), describeFault)
      .then(
        (message) => process.send?.(message, () => process.exit(0)),
        () => process.exit(1),
      );
  });
}

function describeFault(fault: unknown): ApartAnswer {
  const code = (fault as NodeJS.ErrnoException | null)?.code ?? 'UNKNOWN';
  return { error: `a file cannot be read (${code}). Check the disk, and try again.` };
}
