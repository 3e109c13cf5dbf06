/** Installs and finds programs from PyPI, each in its own environment below `.components`. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve(import.meta.dirname, '..', '..', '.components');
/** The record of the installed requirements. If they differ, the environment is created again. */
const STAMP = 'requirements';
const INSTALL_MS_MAX = 10 * 60_000;

/** Returns the folder of a component's programs. */
export function getPrograms(name: string): string {
  return join(FOLDER, name, 'bin');
}

/** Returns whether exactly these requirements are installed for a component. */
export function isFromPypi(name: string, requirements: readonly string[]): boolean {
  try {
    return readFileSync(join(FOLDER, name, STAMP), 'utf8') === requirements.join('\n');
  } catch {
    return false;
  }
}

/** Installs requirements, such as `moto[server]==5.2.5`, for one component. Returns `false` if that fails. */
export function installFromPypi(name: string, requirements: readonly string[]): boolean {
  const folder = join(FOLDER, name);
  rmSync(folder, { recursive: true, force: true });
  const steps = [
    ['python3', '-m', 'venv', folder],
    [
      join(folder, 'bin', 'python'),
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      ...requirements,
    ],
  ];
  const done = steps.every(
    ([program, ...words]) =>
      spawnSync(program!, words, { stdio: 'ignore', timeout: INSTALL_MS_MAX }).status === 0,
  );
  if (done) writeFileSync(join(folder, STAMP), requirements.join('\n'));
  else rmSync(folder, { recursive: true, force: true });
  return done;
}
