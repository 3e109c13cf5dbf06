/** `./service` of the checkout, as a coding agent runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const root = resolve(import.meta.dirname, '..', '..');
export const service = join(root, 'service');

/** Resolves when a process has ended. If it never ends, the test fails by its timeout. */
export async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(50);
  }
}

/** The result of a run of the program. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs `./service hook` as a coding agent does. */
export function hook(
  cwd: string,
  stdin: string | object,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return run(cwd, ['hook', ...words], typeof stdin === 'string' ? stdin : JSON.stringify(stdin), env);
}

/** Runs `./service`. */
export async function run(
  cwd: string,
  words: readonly string[],
  stdin = '',
  env: Readonly<Record<string, string>> = {},
  program: readonly string[] = [service],
): Promise<Ran> {
  const [command, ...first] = program;
  const child = spawn(command!, [...first, ...words], { cwd, env: { ...process.env, ...env } });
  const told = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told.stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...told, code };
}

/** Returns the process that owns the state folder below a folder, if the folder names it. */
export function readOwner(dir: string): number | null {
  try {
    return (JSON.parse(readFileSync(join(dir, '.service', 'owner.json'), 'utf8')) as { pid: number }).pid;
  } catch {
    return null;
  }
}
