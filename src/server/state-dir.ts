import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Lock, takeLock } from '../drivers/stores/lock.ts';
import { findDiskProblem } from '../platform/disk.ts';
import { StartFailure } from '../platform/failure.ts';
import { makeFolder } from '../platform/files/folder.ts';
import { readOwnFileSync } from '../platform/files/own-file.ts';
import { ignoreInGit } from '../platform/files/state-folder.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import { getContentSocket } from './socket-path.ts';
import { refuseForeignEntries, setForeignEntriesAside } from './state-entries.ts';

/** The owner of a state folder, as reported to a process that finds the folder in use. */
export interface StateOwner {
  readonly pid: number;
  /** The HTTP address; `null` during the start. */
  readonly url: string | null;
  readonly version: string;
  /** ISO 8601. */
  readonly started_at: string;
  /** Set by a command that owns the folder for one call. */
  readonly is_own_call?: true;
}

/** A state folder that this process owns until it releases it or exits. */
export interface Ownership {
  readonly announce: (owner: StateOwner) => void;
  readonly release: () => void;
}

/** The paths in a state folder. */
export function buildStatePaths(stateDir: string) {
  return {
    lock: join(stateDir, 'owner.lock'),
    owner: join(stateDir, 'owner.json'),
    content_socket: getContentSocket(stateDir),
    operator_folder: join(stateDir, 'operator'),
    operator_socket: join(stateDir, 'operator', 'operator.sock'),
    journal: join(stateDir, 'journal'),
    keys: join(stateDir, 'keys'),
    policies: join(stateDir, 'policies'),
    index: join(stateDir, 'index.db'),
    index_node: join(stateDir, 'index-node'),
  };
}

/**
 * Creates the state folder with access for its owner only. An existing folder is used as it is, and its
 * problems are returned as warnings.
 *
 * @throws StartFailure `state_unusable` if it cannot be created or written, or if other users can write to it
 */
export function makeStateDir(stateDir: string): string[] {
  try {
    makeFolder(stateDir);
    const { mode, uid } = statSync(stateDir);
    const ownUid = process.getuid?.();
    // In a volume to which other users can write, one of them may have created the folder.
    if (ownUid !== undefined && ownUid !== 0 && uid !== ownUid && isShared(dirname(stateDir)))
      throw buildUnusableFailure(stateDir, 'it belongs to another user. Remove it, or choose another');
    if (mode & 0o002)
      throw buildUnusableFailure(
        stateDir,
        'everyone may write in it. Choose another, or remove that permission',
      );
    const isTightened = (mode & 0o077) !== 0 && uid === process.getuid?.() && tightenMode(stateDir, mode);
    if (mode & 0o020 && !isTightened)
      throw buildUnusableFailure(
        stateDir,
        'its group may write in it. Choose another, or remove that permission (chmod g-w)',
      );
    refuseForeignEntries(stateDir);
    const foreign = setForeignEntriesAside(stateDir);
    ignoreInGit(stateDir);
    const probe = join(stateDir, `.probe-${process.pid}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
    return [
      ...foreign.map(
        (name) =>
          `\`${join(stateDir, name)}\` was not a file of this service and was moved to \`${name}.refused-*\`.`,
      ),
      ...((mode & 0o077) === 0 || isTightened
        ? []
        : [
            `Others may look into the state folder \`${stateDir}\`. The files in it are for this user alone.`,
          ]),
    ];
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw buildUnwritableFailure(stateDir, error);
  }
}

function isShared(folder: string): boolean {
  return (statSync(folder).mode & 0o022) !== 0;
}

/**
 * Returns whether the system refused to read or write a file and no error class of this project describes it
 * yet.
 */
export function isDiskFailure(error: unknown): boolean {
  const isDescribed = error instanceof StartFailure || error instanceof AuditFailure;
  return !isDescribed && findDiskProblem(error)?.names_cause === true;
}

/** Builds the failure for a state folder that cannot be written because of the disk or the system. */
export function buildUnwritableFailure(stateDir: string, error: unknown): StartFailure {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const disk = findDiskProblem(error, stateDir);
  if (disk === null) return buildUnusableFailure(stateDir, `it cannot be written (${code})`);
  return new StartFailure(
    'state_unusable',
    `The state folder \`${stateDir}\` cannot be written: ${disk.what} (${code}). ${disk.fix}, then start again.`,
  );
}

/** Removes the access of other users, but only from a folder that has our lock and so is certainly ours. */
function tightenMode(stateDir: string, mode: number): boolean {
  try {
    statSync(buildStatePaths(stateDir).lock);
    chmodSync(stateDir, mode & 0o700);
    return true;
  } catch {
    return false;
  }
}

function buildUnusableFailure(stateDir: string, what: string): StartFailure {
  return new StartFailure('state_unusable', `The state folder \`${stateDir}\` cannot be used: ${what}.`);
}

/**
 * Makes this process the only owner of a state folder. The kernel ends the ownership with the process, so a
 * killed process leaves nothing to clean up.
 *
 * @throws StartFailure `state_in_use`, which names the owning process
 */
export function takeOwnership(stateDir: string): Ownership {
  const paths = buildStatePaths(stateDir);
  const lock = takeOwnerLock(stateDir);
  if (lock === null) throw new StartFailure('state_in_use', formatTakenSentence(stateDir));
  return {
    announce: (owner) => {
      const temporary = `${paths.owner}.${process.pid}.tmp`;
      writeFileSync(temporary, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
      renameSync(temporary, paths.owner);
    },
    release: () => {
      rmSync(paths.owner, { force: true });
      lock.release();
    },
  };
}

/** Returns `null` if another process owns the folder. @throws StartFailure `state_unusable` */
export function takeOwnerLock(stateDir: string): Lock | null {
  try {
    const path = buildStatePaths(stateDir).lock;
    const lock = takeLock(path);
    if (lock !== null) chmodSync(path, 0o600);
    return lock;
  } catch (error) {
    if (findDiskProblem(error, stateDir)?.names_cause === true) throw buildUnwritableFailure(stateDir, error);
    throw buildUnusableFailure(
      stateDir,
      'its file `owner.lock` cannot be opened. Check its owner, or remove it',
    );
  }
}

/** Reads the owner that a folder records, or `null` if there is none. The owner may have exited since. */
export function readStateOwner(stateDir: string): StateOwner | null {
  try {
    const owner = JSON.parse(readOwnFileSync(buildStatePaths(stateDir).owner)) as StateOwner;
    return Number.isInteger(owner.pid) ? owner : null;
  } catch {
    return null;
  }
}

function formatTakenSentence(stateDir: string): string {
  const owner = readStateOwner(stateDir);
  const who = owner === null ? '' : ` (process ${owner.pid}${owner.url === null ? '' : `, ${owner.url}`})`;
  return `Another service${who} uses the state folder \`${stateDir}\`. Stop it, or set \`state_dir\` to another folder.`;
}
