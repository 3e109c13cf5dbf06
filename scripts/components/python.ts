/** Installs and finds programs from PyPI, each in its own environment below `.components`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parsePipSettings } from './pip-settings.ts';

const FOLDER = resolve(import.meta.dirname, '..', '..', '.components');
/** The record of the installed requirements. If they differ, the environment is created again. */
const STAMP = 'requirements';
const INSTALL_MS_MAX = 10 * 60_000;
/** The uv to install where the machine has none. */
const UV = 'uv==0.13.9';

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
  const installers = [installWithUv, installWithPip];
  const done = installers.some((install) => {
    rmSync(folder, { recursive: true, force: true });
    return install(folder, requirements);
  });
  if (done) writeFileSync(join(folder, STAMP), requirements.join('\n'));
  else rmSync(folder, { recursive: true, force: true });
  return done;
}

function installWithPip(folder: string, requirements: readonly string[]): boolean {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  return (
    runProgram('python3', ['-m', 'venv', folder]) &&
    runProgram(join(folder, 'bin', 'python'), [...pip, ...requirements])
  );
}

/** Installs with uv, which takes seconds where pip takes minutes. */
function installWithUv(folder: string, requirements: readonly string[]): boolean {
  const uv = ensureUv();
  if (uv === null) return false;
  const env = { ...readPipSettings(), ...process.env, UV_PYTHON_DOWNLOADS: 'never' };
  const install = ['pip', 'install', '--quiet', '--python', join(folder, 'bin', 'python')];
  return (
    runProgram(uv, ['venv', '--quiet', '--seed', '--python', 'python3', folder], env) &&
    runProgram(uv, [...install, ...requirements], env)
  );
}

/** Returns the uv of this machine, or one that is installed for this checkout; `null` if there is none. */
function ensureUv(): string | null {
  if (runProgram('uv', ['--version'])) return 'uv';
  const folder = join(FOLDER, 'uv');
  if (!isFromPypi('uv', [UV])) {
    rmSync(folder, { recursive: true, force: true });
    if (!installWithPip(folder, [UV])) return null;
    writeFileSync(join(folder, STAMP), UV);
  }
  return join(folder, 'bin', 'uv');
}

/** Returns the package index and the certificates that pip is set up to use, as variables of uv. */
function readPipSettings(): Record<string, string> {
  const words = ['-m', 'pip', 'config', 'list'];
  const { stdout } = spawnSync('python3', words, { encoding: 'utf8', timeout: 60_000 });
  return parsePipSettings(stdout ?? '', existsSync);
}

function runProgram(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  return spawnSync(program, words, { stdio: 'ignore', env, timeout: INSTALL_MS_MAX }).status === 0;
}
