import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = new URL('../main.ts', import.meta.url).pathname;

/** What a run of the real program came to. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Closes standard output at once, as a reader that goes away. */
  readonly deaf?: boolean;
  /** Sends SIGINT when standard output first holds this. */
  readonly interrupt_at?: string;
}

/** Runs the program as a child process, without a terminal, in an environment of its own. */
export function run(args: readonly string[], options: RunOptions): Promise<Ran> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...options.env },
  });
  let stdout = '';
  let stderr = '';
  if (options.deaf) child.stdout.destroy();
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    if (options.interrupt_at !== undefined && stdout.includes(options.interrupt_at)) child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // A program that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(options.stdin ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs `use` in a new folder and takes the folder away afterwards. */
export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'cli-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
