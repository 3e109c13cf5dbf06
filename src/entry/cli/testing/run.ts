import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { ProcessLineage } from '../../../runtime/access/lineage.ts';
import { runProgram } from '../program.ts';
import { MAIN_FILE } from './main-file.ts';

/** Time limit in milliseconds of one run, so that a program that hangs fails the test. */
const RUN_MS_MAX = 60_000;

/** The result of a run of the real program. */
export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Processes above the program; none by default. Only for `runInProcess`. */
  readonly readLineage?: () => ProcessLineage | null;
  /** Closes standard output at once, like a reader that stops reading. */
  readonly closes_stdout?: boolean;
  /** Sends SIGINT when standard output first contains this text. */
  readonly interrupt_at?: string;
}

/**
 * Runs the program in this process, for tables of many cases: the same parsing and operations, without the start of a
 * process.
 */
export async function runInProcess(args: readonly string[], options: RunOptions): Promise<RunResult> {
  const [stdout, stderr] = [createCollector(), createCollector()];
  const code = await runProgram(args, {
    name: 'customshouse',
    cwd: options.cwd,
    env: { ...options.env },
    stdin: Readable.from([Buffer.from(options.stdin ?? '')]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    interactive: false,
    // The tests may themselves be run by a coding agent.
    readLineage: options.readLineage ?? (() => ({ ancestors: [], has_terminal: true })),
    exit_code: 0,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function createCollector(): { stream: Writable; text: () => string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Runs the program as a child process, without a terminal, in an environment of its own. */
export function runProcess(args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [MAIN_FILE, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...options.env },
    timeout: RUN_MS_MAX,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  if (options.closes_stdout) child.stdout.destroy();
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    if (options.interrupt_at !== undefined && stdout.includes(options.interrupt_at)) child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // A program that does not read its input may exit before the input is written.
  child.stdin.on('error', () => {});
  child.stdin.end(options.stdin ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A program that keeps running. */
export interface StartedProgram {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal and resolves to the exit code. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts the program, and resolves when standard output contains `until`. */
export async function startProgram(
  args: readonly string[],
  options: { cwd: string; until: string },
): Promise<StartedProgram> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [MAIN_FILE, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    child.on('close', (code) => reject(new Error(`it ended with ${code}: ${stdout}${stderr}`)));
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      if (stdout.includes(options.until)) resolve();
    });
  });
  return {
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    stop: (signal) => {
      child.kill(signal);
      return closed;
    },
  };
}

/** Runs `use` in a new folder and removes the folder afterwards. */
export async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'cli-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
