/** Installs and finds programs from npm, in a folder with its own lock file. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', '..');
const INSTALL_MS_MAX = 10 * 60_000;

/**
 * Returns the path of a program of the folder's packages; `null` if they are not installed exactly as in the
 * lock file.
 */
export function findNpmProgram(folder: string, program: string): string | null {
  const modules = join(ROOT, folder, 'node_modules');
  const wanted = getPackages(join(ROOT, folder, 'package-lock.json'));
  const present = getPackages(join(modules, '.package-lock.json'));
  const isComplete = Object.entries(wanted).every(
    ([path, { integrity, optional }]) =>
      path === '' || (present[path] === undefined ? optional : present[path].integrity === integrity),
  );
  const file = join(modules, '.bin', program);
  return isComplete && existsSync(file) ? file : null;
}

/**
 * Installs the packages of a folder's lock file, without install scripts. Returns `false` if that fails. `npm
 * ci` rejects a lock file that lacks packages of other platforms, which a registry may not serve; `npm
 * install` does not need them.
 */
export function installFromNpm(folder: string): boolean {
  return runNpm(folder, ['ci']) || runNpm(folder, ['install', '--no-save']);
}

function runNpm(folder: string, command: readonly string[]): boolean {
  const words = [...command, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` };
  const options = { cwd: resolve(ROOT, folder), env, stdio: 'ignore', timeout: INSTALL_MS_MAX } as const;
  return spawnSync('npm', words, options).status === 0;
}

function getPackages(file: string): Record<string, { integrity?: string; optional?: boolean }> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}
