import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { StartFailure } from '../platform/failure.ts';
import type { Log } from '../platform/log.ts';
import { openRpcChannel, type RpcChannel } from './rpc-channel.ts';
import type { ParentMethods, WorkerMethods, WorkerStart } from './rpc-methods.ts';

/** A process that answers requests, seen from the parent. */
export interface Worker {
  /** `worker-1`; names its journal. */
  readonly name: string;
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly started_ms: number;
  readonly call: RpcChannel<WorkerMethods>['call'];
  /** Kills the process. Resolves when it has exited. */
  readonly kill: () => Promise<void>;
}

/** The worker pool of a service. A worker that exits on its own is restarted. */
export interface Workers {
  /** Starts all workers, which do not listen yet. Rejects with a StartFailure if one does not start. */
  readonly start: () => Promise<void>;
  /** Has all workers listen. Rejects with a StartFailure if one does not. */
  readonly listen: () => Promise<void>;
  /** Returns the workers that serve now. */
  readonly serving: () => readonly Worker[];
  /**
   * Stops all workers. Those that serve answer accepted requests for at most `patienceMs`; `forced` is true if
   * some could not.
   */
  readonly stop: (patienceMs: number) => Promise<{ readonly forced: boolean }>;
  /** Kills all workers. */
  readonly kill: () => Promise<void>;
}

export interface WorkersOptions {
  readonly url: URL;
  readonly count: number;
  readonly answers: ParentMethods;
  readonly log: Log;
  /** A process that was forked earlier, while the configuration was loading. */
  readonly spare: WorkerProcess | null;
  /** Returns the orders that a worker receives at its start. */
  readonly orders: (name: string) => WorkerStart;
  /** Runs one change of the service at a time, so that no worker starts during a policy change. */
  readonly inTurn: <Result>(task: () => Promise<Result>) => Promise<Result>;
}

const START_MS = 30_000;
const BACKOFF_FIRST_MS = 100;
const BACKOFF_MOST_MS = 10_000;
/** A worker that ran longer than this, in milliseconds, is restarted with the shortest delay. */
const SETTLED_MS = 30_000;

/** A forked process that has not received its orders yet. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/**
 * The size of a young-generation semi-space in MB, twice the default. Requests that wait for the disk survive a
 * collection, and each collection copies them. The heap grows only while many requests wait, so an idle worker
 * uses no more memory.
 */
const YOUNG_MEMORY = '--max-semi-space-size=32';

/** Forks the process of a worker. It loads its program and then waits for its orders. */
export function forkWorker(url: URL): WorkerProcess {
  const child = fork(url, [], {
    execArgv: [...process.execArgv, YOUNG_MEMORY],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
    child.once('error', () => resolve('it could not be started'));
  });
  // Sending a message to an exiting process fails. `ended` reports the exit.
  child.on('error', () => {});
  return { child, ended };
}

/** Kills a process and waits until it has exited. */
export async function killWorker({ child, ended }: WorkerProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** The state of the pool. */
interface WorkerPool {
  readonly options: WorkersOptions;
  readonly serving: Map<string, Worker>;
  readonly processes: Map<string, WorkerProcess>;
  readonly restarts: Set<NodeJS.Timeout>;
  spare: WorkerProcess | null;
  stopping: boolean;
  killed: boolean;
}

/** Opens the pool of the workers `worker-1` to `worker-<count>`, which begin with `start`. */
export function openWorkers(options: WorkersOptions): Workers {
  const pool: WorkerPool = {
    options,
    serving: new Map(),
    processes: new Map(),
    restarts: new Set(),
    spare: options.spare,
    stopping: false,
    killed: false,
  };
  return {
    start: () => startAll(pool),
    listen: () => listenAll(pool),
    serving: () => [...pool.serving.values()],
    stop: (patienceMs) => stopAll(pool, patienceMs),
    kill: () => killAll(pool),
  };
}

async function startAll(pool: WorkerPool): Promise<void> {
  const names = Array.from({ length: pool.options.count }, (_, at) => `worker-${at + 1}`);
  try {
    await Promise.all(names.map((name) => startWorker(pool, name)));
  } catch (error) {
    await killAll(pool);
    throw buildStartFailure(error);
  }
}

async function listenAll(pool: WorkerPool): Promise<void> {
  try {
    await Promise.all([...pool.serving.values()].map(listen));
  } catch (error) {
    throw buildStartFailure(error);
  }
  for (const name of pool.serving.keys()) restartWhenEnded(pool, name, 0);
}

const listen = (worker: Worker) => worker.call('listen', null, START_MS);

function buildStartFailure(error: unknown): StartFailure {
  return new StartFailure('worker_failed', `The service did not start: ${(error as Error).message}`);
}

/** Starts one process, which does not listen yet. */
async function startWorker(pool: WorkerPool, name: string): Promise<Worker> {
  const own = pool.spare ?? forkWorker(pool.options.url);
  pool.spare = null;
  pool.processes.set(name, own);
  const worker = connectWorker(name, own, pool.options.answers);
  try {
    await worker.call('start', pool.options.orders(name), START_MS);
  } catch (error) {
    const how = await Promise.race([own.ended, null]);
    await worker.kill();
    pool.processes.delete(name);
    throw how === null ? error : new Error(`${name} ended (${how}) before it started`);
  }
  pool.serving.set(name, worker);
  return worker;
}

/** Restarts a worker when it exits. */
function restartWhenEnded(pool: WorkerPool, name: string, failures: number): void {
  const beganMs = performance.now();
  void pool.processes.get(name)?.ended.then((how) => {
    pool.serving.delete(name);
    pool.processes.delete(name);
    if (pool.stopping) return;
    pool.options.log.error(`${name} has ended, and is started again`, { how });
    restartAfterDelay(pool, name, performance.now() - beganMs > SETTLED_MS ? 0 : failures + 1);
  });
}

/** Restarts a worker, with a longer delay after each failure. */
function restartAfterDelay(pool: WorkerPool, name: string, failures: number): void {
  const { log, inTurn } = pool.options;
  const delayMs = Math.min(BACKOFF_MOST_MS, BACKOFF_FIRST_MS * 2 ** Math.max(0, failures - 1));
  const timer = setTimeout(async () => {
    pool.restarts.delete(timer);
    try {
      await inTurn(async () => {
        if (!pool.stopping) await listen(await startWorker(pool, name));
      });
      if (!pool.stopping) restartWhenEnded(pool, name, failures);
    } catch (error) {
      if (pool.stopping) return;
      log.error(`${name} could not be started, and is tried again`, { reason: (error as Error).message });
      restartAfterDelay(pool, name, failures + 1);
    }
  }, delayMs);
  pool.restarts.add(timer);
}

async function stopAll(pool: WorkerPool, patienceMs: number): Promise<{ forced: boolean }> {
  endRestarts(pool);
  const { serving, processes } = pool;
  const request = [...serving.values()].map((worker) =>
    worker.call('stop', null, patienceMs).catch(() => {}),
  );
  const idle = [...processes].filter(([name]) => !serving.has(name));
  await Promise.all(idle.map(([, own]) => killWorker(own)));
  const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), patienceMs).unref());
  const all = [...processes.values()];
  const gone = Promise.all(request).then(() => Promise.all(all.map(({ ended }) => ended)));
  if ((await Promise.race([gone, late])) === 'late') await killAll(pool);
  return { forced: pool.killed };
}

async function killAll(pool: WorkerPool): Promise<void> {
  endRestarts(pool);
  pool.killed = true;
  await Promise.all([...pool.processes.values()].map(killWorker));
}

function endRestarts(pool: WorkerPool): void {
  pool.stopping = true;
  for (const timer of pool.restarts) clearTimeout(timer);
}

function connectWorker(name: string, own: WorkerProcess, answers: ParentMethods): Worker {
  const { child, ended } = own;
  const pipe = {
    send: (message: unknown) => child.connected && child.send(message as Serializable, () => {}),
    onMessage: (listener: (message: unknown) => void) => void child.on('message', listener),
  };
  const channel = openRpcChannel<WorkerMethods>(pipe, answers);
  void ended.then(() => channel.close());
  return {
    name,
    pid: child.pid ?? 0,
    started_ms: Date.now(),
    call: channel.call,
    kill: () => killWorker(own),
  };
}
