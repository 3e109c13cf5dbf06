/** The place of the journals of guards that name none: one file per guard, in a folder of the user. */

import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PACKAGE_NAME } from '../../core/names.ts';

/** Older journals are deleted when there are more, or when they are larger together. Those of the last day are kept. */
const JOURNALS_MAX = 100;
const JOURNALS_BYTES_MAX = 1_073_741_824;
const KEPT_MS = 86_400_000;

/**
 * Returns the path of a new journal, and deletes old ones. The folder is `customshouse` in `$XDG_STATE_HOME`, by default
 * `~/.local/state`, and in `%LOCALAPPDATA%` on Windows. If it cannot be written, it is a new folder for temporary files.
 */
export function createJournalPath(): string {
  const folder = openFolder();
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  return join(folder, `${date}-${process.pid}-${randomBytes(4).toString('hex')}.jsonl`);
}

function openFolder(): string {
  try {
    const folder = join(getStateFolder(), PACKAGE_NAME);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    deleteOld(folder);
    return folder;
  } catch {
    return mkdtempSync(join(tmpdir(), `${PACKAGE_NAME}-`));
  }
}

function getStateFolder(): string {
  const { LOCALAPPDATA = '', XDG_STATE_HOME = '' } = process.env;
  if (isAbsolute(XDG_STATE_HOME)) return XDG_STATE_HOME;
  return process.platform === 'win32' && isAbsolute(LOCALAPPDATA)
    ? LOCALAPPDATA
    : join(homedir(), '.local', 'state');
}

/** Deletes the oldest journals that are too many. Another process may delete the same ones. */
function deleteOld(folder: string): void {
  const found = readdirSync(folder)
    .filter((name) => name.includes('.jsonl'))
    .flatMap((name) => {
      const stat = statSync(join(folder, name), { throwIfNoEntry: false });
      return stat?.isFile() === true ? [{ name, bytes: stat.size, changed_ms: stat.mtimeMs }] : [];
    })
    .sort((one, other) => other.changed_ms - one.changed_ms);
  let bytes = 0;
  for (const [at, file] of found.entries()) {
    bytes += file.bytes;
    const isOld = Date.now() - file.changed_ms > KEPT_MS;
    if (isOld && (at >= JOURNALS_MAX || bytes > JOURNALS_BYTES_MAX))
      rmSync(join(folder, file.name), { force: true });
  }
}
