import { type ChildProcess, fork } from 'node:child_process';
import type { Log } from '../log.ts';
import { type Channel, openChannel } from './channel.ts';
import { StartFailure } from './failure.ts';
import type { ParentAnswers, WorkerAnswers, WorkerOrders } from './protocol.ts';

/** A process that answers requests, seen from the parent. */
export interface Worker {
  /** `worker-1`; names its journal. */
  readonly name: string;
  readonly pid: number;
  readonly ask: Channel<WorkerAnswers>['ask'];
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

/** Starts the process of a worker. It loads its program and then waits for its orders. */
export function forkWorker(url: URL): WorkerProcess {
  const child = fork(url, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
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

/** Makes the workers `worker-1` to `worker-<count>`, which begin with `start`. */
export function openWorkers(options: WorkersOptions): Workers {
  const serving = new Map<string, Worker>();
  const processes = new Map<string, WorkerProcess>();
  const restarts = new Set<NodeJS.Timeout>();
  let spare = options.spare;
  let stopping = false;
  let killed = false;

  async function begin(name: string): Promise<void> {
    const own = spare ?? forkWorker(options.url);
    spare = null;
    processes.set(name, own);
    const worker = connect(name, own, options.answers);
    try {
      await worker.ask('start', options.orders(name), START_MS);
    } catch (error) {
      const how = await Promise.race([own.ended, null]);
      await worker.kill();
      processes.delete(name);
      throw how === null ? error : new Error(`${name} ended (${how}) before it listened`);
    }
    serving.set(name, worker);
  }

  /** Keeps a worker that serves alive: starts another in its place when it ends. */
  function keep(name: string, failures: number): void {
    const began_ms = performance.now();
    void processes.get(name)?.ended.then((how) => {
      serving.delete(name);
      processes.delete(name);
      if (stopping) return;
      options.log.error(`${name} has ended, and is started again`, { how });
      again(name, performance.now() - began_ms > SETTLED_MS ? 0 : failures + 1);
    });
  }

  function again(name: string, failures: number): void {
    const delay_ms = Math.min(BACKOFF_MOST_MS, BACKOFF_FIRST_MS * 2 ** Math.max(0, failures - 1));
    const timer = setTimeout(async () => {
      restarts.delete(timer);
      try {
        await options.inTurn(async () => {
          if (!stopping) await begin(name);
        });
        if (!stopping) keep(name, failures);
      } catch (error) {
        options.log.error(`${name} could not be started, and is tried again`, {
          reason: (error as Error).message,
        });
        again(name, failures + 1);
      }
    }, delay_ms);
    restarts.add(timer);
  }

  async function kill(): Promise<void> {
    stopping = true;
    killed = true;
    for (const timer of restarts) clearTimeout(timer);
    await Promise.all([...processes.values()].map(killWorker));
  }

  return {
    start: async () => {
      const names = Array.from({ length: options.count }, (_, at) => `worker-${at + 1}`);
      try {
        await Promise.all(names.map(begin));
      } catch (error) {
        await kill();
        throw new StartFailure('worker_failed', `The service did not start: ${(error as Error).message}`);
      }
      for (const name of names) keep(name, 0);
    },
    serving: () => [...serving.values()],
    stop: async (patience_ms) => {
      stopping = true;
      for (const timer of restarts) clearTimeout(timer);
      const asked = [...serving.values()].map((worker) =>
        worker.ask('stop', null, patience_ms).catch(() => {}),
      );
      const idle = [...processes].filter(([name]) => !serving.has(name));
      await Promise.all(idle.map(([, own]) => killWorker(own)));
      const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), patience_ms).unref());
      const all = [...processes.values()];
      const gone = Promise.all(asked).then(() => Promise.all(all.map(({ ended }) => ended)));
      if ((await Promise.race([gone, late])) === 'late') await kill();
      return { forced: killed };
    },
    kill,
  };
}

function connect(name: string, own: WorkerProcess, answers: ParentAnswers): Worker {
  const { child, ended } = own;
  const pipe = {
    send: (message: unknown) => child.connected && child.send(message as never, () => {}),
    onMessage: (listener: (message: unknown) => void) => void child.on('message', listener),
  };
  const channel = openChannel<WorkerAnswers>(pipe, answers);
  void ended.then(() => channel.close());
  return { name, pid: child.pid ?? 0, ask: channel.ask, kill: () => killWorker(own) };
}
