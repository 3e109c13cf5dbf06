import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { StartFailure } from '../platform/failure.ts';
import { buildStatePaths } from './state-dir.ts';

const PRIVATE_MODE = 0o700;

/**
 * Makes the folder of the operator socket. The mode of an existing one is reset, because a copy or a restore may have
 * widened it.
 *
 * @throws StartFailure `state_unusable` if it is a link or belongs to another user
 */
export function prepareOperatorFolder(stateDir: string): void {
  const path = buildStatePaths(stateDir).operator_folder;
  if (readStats(path) === null) mkdirSync(path, { mode: PRIVATE_MODE });
  requireOwnFolder(stateDir);
  chmodSync(path, PRIVATE_MODE);
}

/**
 * Checks the folder of the operator socket before a client sends the operator token there. Returns `false` if there is no
 * folder.
 *
 * @throws StartFailure `state_unusable` if another user may have opened the socket
 */
export function checkOperatorFolder(stateDir: string): boolean {
  const path = buildStatePaths(stateDir).operator_folder;
  if (readStats(path) === null) return false;
  const { mode } = requireOwnFolder(stateDir);
  if ((mode & 0o077) === 0) return true;
  throw buildFailure(
    path,
    `other users may enter it (mode ${(mode & 0o777).toString(8)}). Run \`chmod 700 ${path}\``,
  );
}

function requireOwnFolder(stateDir: string): Stats {
  const path = buildStatePaths(stateDir).operator_folder;
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) throw buildFailure(path, `it is a link. Run \`rm ${path}\`, ${RESTART}`);
  if (!stats.isDirectory()) throw buildFailure(path, `it is no folder. Run \`rm ${path}\`, ${RESTART}`);
  const ownUid = process.getuid?.();
  if (ownUid === undefined || stats.uid === ownUid) return stats;
  // Root also manages the services of other users.
  if (ownUid === 0 && stats.uid === statSync(stateDir).uid) return stats;
  throw buildFailure(path, `it belongs to another user. Run \`rm -r ${path}\`, ${RESTART}`);
}

const RESTART = 'then restart the service';

function buildFailure(path: string, what: string): StartFailure {
  return new StartFailure('state_unusable', `The operator socket in \`${path}\` cannot be trusted: ${what}.`);
}

function readStats(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
