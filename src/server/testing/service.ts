/** Starts real services for tests: a parent with two workers, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceStatus } from '../service.ts';

/** The longest wait for a background effect, in milliseconds. A busy machine takes seconds for a moment's work. */
const PATIENCE_MS = 60_000;

export interface TestFolder {
  readonly dir: string;
  readonly state_dir: string;
  readonly remove: () => void;
}

export function createTestFolder(): TestFolder {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'serve-test-')));
  return {
    dir,
    state_dir: join(dir, '.service'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The output of the program: the running service, or why it failed to start. */
export type PrintedStatus = ServiceStatus & {
  readonly port: number;
  readonly warnings: readonly string[];
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly problems: readonly unknown[];
  };
};

export interface TestService {
  readonly child: ChildProcess;
  readonly printed: PrintedStatus;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what its own route answers.
  readonly post: (path: string, body?: unknown) => Promise<any>;
  /** Returns the output on standard error. */
  readonly log: () => string;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  readonly signal: (name: NodeJS.Signals) => void;
}

const program = new URL('serve.ts', import.meta.url);
const started = new Set<ChildProcess>();

/** Kills the processes that a failed test left running. Call it in an `after` at the end of each file. */
export async function stopLeftoverServices(): Promise<void> {
  const left = [...started].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(
    left.map((child) => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      return gone;
    }),
  );
}

/** Starts a service in a folder. Resolves when the service has printed that it listens, or why it does not. */
export async function startTestService(dir: string, workers = 2): Promise<TestService> {
  const child = spawn(process.execPath, [program.pathname, String(workers)], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
  const line = await readFirstLine(child).catch((error) => {
    throw new Error(`${error.message}\n${log}`);
  });
  const printed = JSON.parse(line) as PrintedStatus;
  return {
    child,
    printed,
    post: (path, body = {}) => post(printed.url!, path, body),
    log: () => log,
    ended,
    signal: (name) => void child.kill(name),
  };
}

async function post(url: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}

async function readFirstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout!) {
    text += chunk;
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error('the program ended without a word');
}

/** Waits until `probe` returns a value. Fails after a minute. */
export async function waitFor<Result>(
  probe: () => Promise<Result | null | false | undefined>,
): Promise<Result> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const result = await probe().catch(() => null);
    if (result) return result;
    if (performance.now() > deadline) throw new Error(`it did not come about in ${PATIENCE_MS} ms`);
    await sleep(20);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Returns every byte of every file in a folder, as Latin-1. */
export function readAllFiles(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}
