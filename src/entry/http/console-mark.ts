import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file in a checkout that exists while a start builds the console; it has the build's process ID. */
export const CONSOLE_MARK = join(import.meta.dirname, '../../../node_modules/.cache/console-build');

/** Returns whether a process builds the console now. */
export function isConsoleBuilding(mark = CONSOLE_MARK): boolean {
  try {
    return process.kill(Number.parseInt(readFileSync(mark, 'utf8'), 10), 0);
  } catch {
    return false;
  }
}
