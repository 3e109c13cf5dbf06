/** Programs of the checkout, run as a user runs them. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..', '..');

export interface CheckoutRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end with empty standard input. Never rejects because of its exit code. */
export async function runProgram(words: readonly string[], options: SpawnOptions = {}): Promise<CheckoutRun> {
  const child = spawn(words[0]!, words.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout, stderr };
}

/**
 * Returns the environment of a user who has never seen the checkout: the machine's own Node first, and no variables of
 * a test runner or npm.
 */
export function userEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = [
    'HOME',
    'USER',
    'LANG',
    'TMPDIR',
    'NODE_EXTRA_CA_CERTS',
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'NO_PROXY',
  ];
  const own = Object.fromEntries(
    kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return { ...own, PATH: folders.join(delimiter), ...more };
}

/** Returns the same environment with the Node of this test first in PATH. */
export function ownNodeEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env = userEnvironment(more);
  return { ...env, PATH: `${resolve(process.execPath, '..')}${delimiter}${env.PATH}` };
}

/** Returns the path of a program in the user's PATH, or `null`. */
export function programInPath(name: string): string | null {
  for (const folder of (userEnvironment().PATH ?? '').split(delimiter).filter(Boolean)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}
