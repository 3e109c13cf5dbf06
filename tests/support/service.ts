/** The real program on a free port in a folder of its own, for tests from the outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { TRUSTS_TEST_PLUGINS } from './checkout.ts';

const READY_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
/** Each further worker takes a second of processor time at a start, so that only tests of several workers name two. */
const WORKERS = process.env.NIGHTLY === undefined ? 1 : 2;

export interface TestServiceOptions {
  /**
   * `service.yaml` as a record or as text. Port and workers are added if it does not set them. A text that is not a
   * YAML mapping is written unchanged. `null`: no configuration file, and one worker unless `args` set more.
   */
  readonly config?: Readonly<Record<string, unknown>> | string | null | undefined;
  /** Further files, by their names relative to the folder. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Variables in addition to a small environment; no variables of the test are passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default 1, and 2 in the nightly round. */
  readonly workers?: number | undefined;
  /** The folder of an earlier service, to start with its state. Files that are given here are overwritten. */
  readonly dir?: string | undefined;
  /** `stop` leaves the folder for a next start. Default `false`. */
  readonly keep?: boolean | undefined;
  /** The program; by default that of this checkout. */
  readonly main?: string | undefined;
  /** Further arguments of `customshouse serve`. */
  readonly args?: readonly string[] | undefined;
}

export interface TestService {
  readonly url: string;
  readonly port: number;
  /** The folder with `service.yaml`. */
  readonly dir: string;
  readonly state_dir: string;
  /** The process ID of the parent. */
  readonly pid: number;
  worker_pids(): number[];
  /** Returns its standard output and standard error so far. */
  logs(): string;
  /** Sends a signal to the parent and waits until it has exited. */
  kill(signal: NodeJS.Signals): Promise<ServiceExit>;
  /** Stops the service as a supervisor would and removes the folder. Rejects if it has to be killed. */
  stop(): Promise<ServiceExit>;
}

export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts `customshouse serve` and resolves when `/v1/ready` answers 200; otherwise rejects with its output. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process can take the port between its choice and its use.
      const wasTaken = error instanceof Error && error.message.includes(PORT_TAKEN);
      if (!wasTaken || options.dir !== undefined || attempt === PORT_ATTEMPTS_MAX) throw error;
    }
  }
}

const PORT_TAKEN = 'Another program listens on';
const PORT_ATTEMPTS_MAX = 3;
const REPORT = 'The service runs';

async function startOnce(options: TestServiceOptions): Promise<TestService> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'service-test-'));
  const port = await freePort();
  writeFiles(dir, port, options);
  const args = ['serve', ...(options.config === null ? ['--port', `${port}`] : []), ...(options.args ?? [])];
  const child = spawn(process.execPath, [options.main ?? MAIN_FILE, ...args], {
    cwd: dir,
    env: environment(options.env),
  });
  const service = handle(child, dir, configuredPort(dir) ?? port, options);
  await untilReady(service, child).catch(async (error: unknown) => {
    child.kill('SIGKILL');
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  });
  return service;
}

/** Returns a port that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the probe listens on no port');
  return address.port;
}

function writeFiles(dir: string, port: number, options: TestServiceOptions): void {
  const file = join(dir, 'service.yaml');
  for (const [name, text] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  if (options.config === null) return;
  const given = options.config ?? (existsSync(file) ? readFileSync(file, 'utf8') : {});
  const record = typeof given === 'string' ? mapping(given) : given;
  if (record === null) {
    writeFileSync(file, given as string);
    return;
  }
  const server = { port, workers: options.workers ?? WORKERS, ...(record.server as object | undefined) };
  // Another process may have taken the port of an earlier start.
  if (options.config === undefined)
    Object.assign(server, { port, workers: options.workers ?? server.workers });
  writeFileSync(file, JSON.stringify({ ...record, server }, null, 2));
}

function mapping(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function configuredPort(dir: string): number | undefined {
  const file = join(dir, 'service.yaml');
  const server = existsSync(file) ? mapping(readFileSync(file, 'utf8'))?.server : undefined;
  return (server as { port?: number } | undefined)?.port;
}

function environment(given: Readonly<Record<string, string>> | undefined): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'USER', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'];
  const own = Object.fromEntries(
    kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  return { ...own, ...TRUSTS_TEST_PLUGINS, ...given };
}

function handle(child: ChildProcess, dir: string, port: number, options: TestServiceOptions): TestService {
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk;
    });
  }
  const ended = new Promise<ServiceExit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  // A test run that is terminated stops the service too.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  void ended.then(() => process.removeListener('exit', end));
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  const stop = async () => {
    let late = false;
    const watchdog = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, STOP_MS_MAX);
    const ending = await kill('SIGTERM');
    clearTimeout(watchdog);
    if (options.keep !== true) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    if (late) throw new Error(`the service did not stop:\n${written}`);
    return ending;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    dir,
    state_dir: join(dir, '.service'),
    pid: child.pid ?? -1,
    worker_pids: () => getChildren(child.pid ?? -1),
    logs: () => written,
    kill,
    stop,
  };
}

function getChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function untilReady(service: TestService, child: ChildProcess): Promise<void> {
  const untilMs = Date.now() + READY_MS_MAX;
  while (Date.now() < untilMs) {
    if (child.exitCode !== null || child.signalCode !== null) {
      await sleep(50); // Its last output may still arrive.
      throw new Error(`the service ended at its start (exit code ${child.exitCode}):\n${service.logs()}`);
    }
    const answer = await fetch(`${service.url}/v1/ready`).catch(() => null);
    await answer?.body?.cancel();
    // The parent prints its report shortly after its workers are ready.
    if (answer?.status === 200 && service.logs().includes(REPORT)) return;
    await sleep(25);
  }
  throw new Error(`the service was not ready after ${READY_MS_MAX} ms:\n${service.logs()}`);
}
