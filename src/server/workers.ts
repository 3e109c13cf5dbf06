import { type ChildProcess, fork } from 'node:child_process';
import { StartFailure } from '../platform/failure.ts';
import type { Log } from '../platform/log.ts';
import type { ParentAnswers, WorkerAnswers, WorkerOrders } from './protocol.ts';
import { openRpcChannel, type RpcChannel } from './rpc-channel.ts';

/** A process that answers requests, seen from the parent. */
export interface Worker {
  /** `worker-1`; names its journal. */
  readonly name: string;
  readonly pid: number;
  readonly ask: RpcChannel<WorkerAnswers>['ask'];
  /** Ends it at once; resolves when it is gone. */
  readonly kill: () => Promise<void>;
}

/** The workers of a service. One that ends by itself is started again. */
export interface Workers {
  /** Starts all; rejects with a StartFailure when one does not come up. */
  readonly start: () => Promise<void>;
  /** Those that serve now. */
  readonly serving: () => readonly Worker[];
  /** Ends all: those that serve answer what they have accepted, for at most `patience_ms`; `forced`: some could not. */
  readonly stop: (patience_ms: number) => Promise<{ readonly forced: boolean }>;
  /** Ends all at once. */
  readonly kill: () => Promise<void>;
}

export interface WorkersOptions {
  readonly url: URL;
  readonly count: number;
  readonly answers: ParentAnswers;
  readonly log: Log;
  /** A process that was begun ahead, while the configuration was read. */
  readonly spare: WorkerProcess | null;
  /** What a worker is told when it begins. */
  readonly orders: (name: string) => WorkerOrders;
  /** Runs one change of the service after another: a worker never begins while a policy is exchanged. */
  readonly inTurn: <Result>(task: () => Promise<Result>) => Promise<Result>;
}

const START_MS = 30_000;
const BACKOFF_FIRST_MS = 100;
const BACKOFF_MOST_MS = 10_000;
/** A worker that lived this long has earned a prompt restart. */
const SETTLED_MS = 30_000;

/** A forked process that has not been told yet what to do. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/**
 * Room for young values, in MB, twice what is usual. Requests that wait for the disk outlive a collection, and are
 * copied by each; the room grows only while many wait, so that an idle worker is no larger.
 */
const YOUNG_MEMORY = '--max-semi-space-size=32';

/** Starts the process of a worker. It loads its program and then waits for its orders. */
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
  // A message to a process that is just ending: its end is told by `ended`.
  child.on('error', () => {});
  return { child, ended };
}

/** Ends a process at once and waits until it is gone. */
export async function killWorker({ child, ended }: WorkerProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** All that changes while workers are kept. */
interface Crew {
  readonly options: WorkersOptions;
  readonly serving: Map<string, Worker>;
  readonly processes: Map<string, WorkerProcess>;
  readonly restarts: Set<NodeJS.Timeout>;
  spare: WorkerProcess | null;
  stopping: boolean;
  killed: boolean;
}

/** Makes the workers `worker-1` to `worker-<count>`, which begin with `start`. */
export function openWorkers(options: WorkersOptions): Workers {
  const crew: Crew = {
    options,
    serving: new Map(),
    processes: new Map(),
    restarts: new Set(),
    spare: options.spare,
    stopping: false,
    killed: false,
  };
  return {
    start: () => startAll(crew),
    serving: () => [...crew.serving.values()],
    stop: (patience_ms) => stopAll(crew, patience_ms),
    kill: () => killAll(crew),
  };
}

async function startAll(crew: Crew): Promise<void> {
  const names = Array.from({ length: crew.options.count }, (_, at) => `worker-${at + 1}`);
  try {
    await Promise.all(names.map((name) => begin(crew, name)));
  } catch (error) {
    await killAll(crew);
    throw new StartFailure('worker_failed', `The service did not start: ${(error as Error).message}`);
  }
  for (const name of names) keep(crew, name, 0);
}

/** Starts one process and waits until it listens. */
async function begin(crew: Crew, name: string): Promise<void> {
  const own = crew.spare ?? forkWorker(crew.options.url);
  crew.spare = null;
  crew.processes.set(name, own);
  const worker = connect(name, own, crew.options.answers);
  try {
    await worker.ask('start', crew.options.orders(name), START_MS);
  } catch (error) {
    const how = await Promise.race([own.ended, null]);
    await worker.kill();
    crew.processes.delete(name);
    throw how === null ? error : new Error(`${name} ended (${how}) before it listened`);
  }
  crew.serving.set(name, worker);
}

/** Keeps a worker that serves alive: starts another in its place when it ends. */
function keep(crew: Crew, name: string, failures: number): void {
  const began_ms = performance.now();
  void crew.processes.get(name)?.ended.then((how) => {
    crew.serving.delete(name);
    crew.processes.delete(name);
    if (crew.stopping) return;
    crew.options.log.error(`${name} has ended, and is started again`, { how });
    again(crew, name, performance.now() - began_ms > SETTLED_MS ? 0 : failures + 1);
  });
}

/** Starts a worker again, the later the more often it has failed. */
function again(crew: Crew, name: string, failures: number): void {
  const { log, inTurn } = crew.options;
  const delay_ms = Math.min(BACKOFF_MOST_MS, BACKOFF_FIRST_MS * 2 ** Math.max(0, failures - 1));
  const timer = setTimeout(async () => {
    crew.restarts.delete(timer);
    try {
      await inTurn(async () => {
        if (!crew.stopping) await begin(crew, name);
      });
      if (!crew.stopping) keep(crew, name, failures);
    } catch (error) {
      if (crew.stopping) return;
      log.error(`${name} could not be started, and is tried again`, { reason: (error as Error).message });
      again(crew, name, failures + 1);
    }
  }, delay_ms);
  crew.restarts.add(timer);
}

async function stopAll(crew: Crew, patience_ms: number): Promise<{ forced: boolean }> {
  endRestarts(crew);
  const { serving, processes } = crew;
  const asked = [...serving.values()].map((worker) => worker.ask('stop', null, patience_ms).catch(() => {}));
  const idle = [...processes].filter(([name]) => !serving.has(name));
  await Promise.all(idle.map(([, own]) => killWorker(own)));
  const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), patience_ms).unref());
  const all = [...processes.values()];
  const gone = Promise.all(asked).then(() => Promise.all(all.map(({ ended }) => ended)));
  if ((await Promise.race([gone, late])) === 'late') await killAll(crew);
  return { forced: crew.killed };
}

async function killAll(crew: Crew): Promise<void> {
  endRestarts(crew);
  crew.killed = true;
  await Promise.all([...crew.processes.values()].map(killWorker));
}

function endRestarts(crew: Crew): void {
  crew.stopping = true;
  for (const timer of crew.restarts) clearTimeout(timer);
}

function connect(name: string, own: WorkerProcess, answers: ParentAnswers): Worker {
  const { child, ended } = own;
  const pipe = {
    send: (message: unknown) => child.connected && child.send(message as never, () => {}),
    onMessage: (listener: (message: unknown) => void) => void child.on('message', listener),
  };
  const channel = openRpcChannel<WorkerAnswers>(pipe, answers);
  void ended.then(() => channel.close());
  return { name, pid: child.pid ?? 0, ask: channel.ask, kill: () => killWorker(own) };
}
