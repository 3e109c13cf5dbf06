import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Lock, takeLock } from '../drivers/stores/lock.ts';
import { diskProblem } from '../platform/disk.ts';
import { StartFailure } from '../platform/failure.ts';
import { makeFolder } from '../platform/files/folder.ts';
import { ignoreInGit } from '../platform/files/state-folder.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';

/** Who owns a state folder, for whoever finds it taken. */
export interface StateOwner {
  readonly pid: number;
  /** Where it listens; `null` while it starts. */
  readonly url: string | null;
  readonly version: string;
  /** ISO 8601. */
  readonly started_at: string;
}

/** A state folder that this process owns until it lets go or dies. */
export interface Ownership {
  readonly announce: (owner: StateOwner) => void;
  readonly release: () => void;
}

/** The places in a state folder. */
export function statePaths(state_dir: string) {
  return {
    lock: join(state_dir, 'owner.lock'),
    owner: join(state_dir, 'owner.json'),
    socket: join(state_dir, 'service.sock'),
    journal: join(state_dir, 'journal'),
    keys: join(state_dir, 'keys'),
    policies: join(state_dir, 'policies'),
    index: join(state_dir, 'index.db'),
  };
}

/**
 * Makes the state folder, for its owner alone. One that is there is used as it is; what is wrong with it is
 * given back as warnings.
 *
 * @throws StartFailure `state_unusable` when it cannot be made or written, or when others may write in it
 */
export function makeStateDir(state_dir: string): string[] {
  try {
    makeFolder(state_dir);
    const { mode, uid } = statSync(state_dir);
    const own_uid = process.getuid?.();
    // On a volume in which others may write, one of them may have made it.
    if (own_uid !== undefined && own_uid !== 0 && uid !== own_uid && isShared(dirname(state_dir)))
      throw unusable(state_dir, 'it belongs to another user. Remove it, or choose another');
    if (mode & 0o002)
      throw unusable(state_dir, 'everyone may write in it. Choose another, or take that right away');
    const isTightened = (mode & 0o077) !== 0 && uid === process.getuid?.() && tighten(state_dir, mode);
    if (mode & 0o020 && !isTightened)
      throw unusable(
        state_dir,
        'its group may write in it. Choose another, or take that right away (chmod g-w)',
      );
    ignoreInGit(state_dir);
    const probe = join(state_dir, `.probe-${process.pid}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
    if ((mode & 0o077) === 0 || isTightened) return [];
    return [
      `Others may look into the state folder \`${state_dir}\`. The files in it are for this user alone.`,
    ];
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw buildUnwritableFailure(state_dir, error);
  }
}

function isShared(folder: string): boolean {
  return (statSync(folder).mode & 0o022) !== 0;
}

/** Whether the system refused to write or to read a file, where nothing of ours has put that in a sentence yet. */
export function isDiskFailure(error: unknown): boolean {
  const is_told = error instanceof StartFailure || error instanceof AuditFailure;
  return !is_told && diskProblem(error)?.names_cause === true;
}

/** The failure for a state folder that the disk, or the system, does not let this process write. */
export function buildUnwritableFailure(state_dir: string, error: unknown): StartFailure {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const disk = diskProblem(error, state_dir);
  if (disk === null) return unusable(state_dir, `it cannot be written (${code})`);
  return new StartFailure(
    'state_unusable',
    `The state folder \`${state_dir}\` cannot be written: ${disk.what} (${code}). ${disk.fix}, then start again.`,
  );
}

/** Takes away what others may do, but only in a folder that is plainly ours: it holds our lock. */
function tighten(state_dir: string, mode: number): boolean {
  try {
    statSync(statePaths(state_dir).lock);
    chmodSync(state_dir, mode & 0o700);
    return true;
  } catch {
    return false;
  }
}

function unusable(state_dir: string, what: string): StartFailure {
  return new StartFailure('state_unusable', `The state folder \`${state_dir}\` cannot be used: ${what}.`);
}

/**
 * Makes this process the one owner of a state folder. The kernel ends the ownership with the process, so that
 * a killed one leaves nothing to clean up.
 *
 * @throws StartFailure `state_in_use`, which names the process that has it
 */
export function takeOwnership(state_dir: string): Ownership {
  const paths = statePaths(state_dir);
  const lock = takeOwnerLock(state_dir);
  if (lock === null) throw new StartFailure('state_in_use', takenSentence(state_dir));
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

/** `null` when another process has it. @throws StartFailure `state_unusable` */
export function takeOwnerLock(state_dir: string): Lock | null {
  try {
    const path = statePaths(state_dir).lock;
    const lock = takeLock(path);
    if (lock !== null) chmodSync(path, 0o600);
    return lock;
  } catch (error) {
    if (diskProblem(error, state_dir)?.names_cause === true) throw buildUnwritableFailure(state_dir, error);
    throw unusable(state_dir, 'its file `owner.lock` cannot be opened. Check its owner, or remove it');
  }
}

/** What the owner of a folder said of itself; `null` when nobody did. It may have died since. */
export function readStateOwner(state_dir: string): StateOwner | null {
  try {
    const owner = JSON.parse(readFileSync(statePaths(state_dir).owner, 'utf8')) as StateOwner;
    return Number.isInteger(owner.pid) ? owner : null;
  } catch {
    return null;
  }
}

function takenSentence(state_dir: string): string {
  const owner = readStateOwner(state_dir);
  const who = owner === null ? '' : ` (process ${owner.pid}${owner.url === null ? '' : `, ${owner.url}`})`;
  return `Another service${who} uses the state folder \`${state_dir}\`. Stop it, or set \`state_dir\` to another folder.`;
}
