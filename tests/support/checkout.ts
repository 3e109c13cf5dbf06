/** Programs of the checkout, run as a user runs them. */
import { type SpawnOptions, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
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

/** Trusts the plug-ins that tests write to the temporary folder. */
export const TRUSTS_TEST_PLUGINS = { SERVICE_TRUSTED_PLUGINS: tmpdir() };

/** Returns the same environment with the Node of this test first in PATH. */
export function ownNodeEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  // Without this checkout's compiled modules each start compiles all again.
  const { NODE_COMPILE_CACHE = '' } = process.env;
  const env = userEnvironment({ ...TRUSTS_TEST_PLUGINS, NODE_COMPILE_CACHE, ...more });
  return { ...env, PATH: `${resolve(process.execPath, '..')}${delimiter}${env.PATH}` };
}

/** Runs a script of a page in a shell that ends at its first failure, with the programs in `bin` first in PATH. */
export function runShell(
  script: string,
  { cwd, bin, more = {} }: { cwd: string; bin: string; more?: Readonly<Record<string, string>> },
): Promise<CheckoutRun> {
  const env = ownNodeEnvironment(more);
  return runProgram(['/bin/sh', '-ec', script], {
    cwd,
    env: { ...env, PATH: `${bin}${delimiter}${env.PATH}` },
  });
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

const SOURCES = [
  ...['src', 'scripts', 'data', 'integrations', 'schemas', 'skills'],
  ...['service', 'package.json', 'package-lock.json', 'tsconfig.json'],
];

/** Copies the sources of this checkout, with links to its packages and nothing that was built. Returns the folder. */
export function copyCheckout(): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'checkout-')));
  for (const name of SOURCES)
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.startsWith(join(root, 'scripts/node/node_modules')),
    });
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache' && !name.startsWith('.service-node'))
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  for (const stamp of ['.service-node', '.service-node-dev'])
    writeFileSync(join(copy, 'node_modules', stamp), `${process.execPath}\n`);
  return copy;
}
