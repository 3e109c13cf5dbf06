/**
 * Builds the console for a start: its packages are installed into a temporary folder, and deleted after the build. The service
 * reads the mark to know that a build runs.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { CONSOLE_MARK, isConsoleBuilding } from '../../src/entry/http/console-mark.ts';

const FOLDER = 'console';
/** Files elsewhere that the console's sources import. */
const IMPORTED = ['src', 'schemas', 'tsconfig.base.json'];
const LEFT_OUT = ['dist', 'node_modules'];

/** Runs `build` in a copy, unless the console is built or being built. Returns the exit code. */
export function buildApart(build: (folder: string) => number): number {
  if (existsSync(join(FOLDER, 'dist', 'index.html')) || isConsoleBuilding()) return 0;
  mkdirSync(resolve(CONSOLE_MARK, '..'), { recursive: true });
  writeFileSync(CONSOLE_MARK, `${process.pid}\n`);
  const copy = mkdtempSync(join(tmpdir(), 'console-build-'));
  const clear = (): void => {
    for (const path of [copy, CONSOLE_MARK]) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
  process.on('exit', clear);
  cpSync(FOLDER, join(copy, FOLDER), {
    recursive: true,
    filter: (path) => !LEFT_OUT.includes(basename(path)),
  });
  for (const name of IMPORTED) symlinkSync(resolve(name), join(copy, name));
  const status = build(join(copy, FOLDER));
  if (status === 0) replaceConsole(join(copy, FOLDER, 'dist'));
  return status;
}

/** Replaces the built console at once, so that a service that runs never reads half of it. */
export function replaceConsole(built: string): void {
  const [dist, fresh, old] = ['dist', 'dist-fresh', 'dist-old'].map((name) => join(FOLDER, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true });
  cpSync(built, fresh, { recursive: true });
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}
