/** Builds programs from the Go module proxy, each in its own folder below `.components`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getPrograms } from './python.ts';

const BUILD_MS_MAX = 10 * 60_000;

/** Returns whether exactly this module is built for a component. */
export function isFromGo(name: string, module: string): boolean {
  try {
    return readFileSync(getStamp(name), 'utf8') === module;
  } catch {
    return false;
  }
}

/** Builds a module, such as `example.org/tool@v1.2.3`, for one component. Returns `false` if that fails. */
export function installFromGo(name: string, module: string): boolean {
  const folder = getPrograms(name);
  rmSync(dirname(folder), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  const options = { stdio: 'ignore', env, timeout: BUILD_MS_MAX } as const;
  const isBuilt = spawnSync('go', ['install', module], options).status === 0;
  if (isBuilt) writeFileSync(getStamp(name), module);
  return isBuilt;
}

function getStamp(name: string): string {
  return join(dirname(getPrograms(name)), 'module');
}
