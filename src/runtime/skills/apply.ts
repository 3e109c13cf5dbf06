import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Lock, takeLock } from '../../drivers/stores/lock.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { readText } from '../config/read-text.ts';
import { assertInside, readPathState } from '../packages/disk.ts';
import { SkillFailure } from '../packages/failure.ts';
import { findFileKind, SKILL_FOLDERS } from '../packages/kinds.ts';
import { formatLock, type SkillsLock } from '../packages/lock-file.ts';
import { LOCK_FILE } from '../packages/lock-name.ts';
import { hashSha256 } from '../packages/package.ts';
import type { FileChange } from './change.ts';
import { linkOrCopy, replaceDurably, syncFolder, writeDurably } from './write-durably.ts';

/**
 * The folder next to `service.yaml` that stages a change: the new files, links to the files to be removed, and
 * finally the plan. While the plan exists, the next command can roll the change back.
 */
export const CHANGE_FOLDER = '.skills-change';

interface Plan {
  readonly version: 'v1alpha1';
  readonly changes: readonly Omit<FileChange, 'text'>[];
  readonly folders_made: readonly string[];
  /** Folders that are removed at the end if they are empty. */
  readonly folders_leaving: readonly string[];
  readonly lock_before: string | null;
  readonly lock_after: string | null;
}

/** The lock for changing the skills of one folder. One process at a time holds it. */
export interface SkillsFolderLock {
  readonly release: () => Promise<void>;
  /** True if an interrupted change was finished or rolled back when the lock was taken. */
  readonly recovered: boolean;
}

/** Takes the lock, and recovers from an interrupted change. @throws SkillFailure `busy` */
export async function lockSkillsFolder(base_dir: string): Promise<SkillsFolderLock> {
  const folder = join(base_dir, CHANGE_FOLDER);
  const lock = await lockFolder(folder);
  try {
    const recovered = await recoverChange(base_dir);
    await clearFolder(folder, OURS);
    return {
      recovered,
      release: async () => {
        await clearFolder(folder, ALL);
        await rmdir(folder).catch(() => {});
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

const LOCK = 'turn.lock';
const TRIES_MAX = 20;

/**
 * Takes the lock. A previous holder removes the folder with its lock file, so a lock can be on a deleted file.
 */
async function lockFolder(folder: string): Promise<Lock> {
  const path = join(folder, LOCK);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    makeFolder(folder);
    if (!(await lstat(folder)).isDirectory()) throw buildForeignFolderFailure();
    const lock = lockAt(path);
    if (lock === 'taken') break;
    if (lock === 'gone') continue;
    // The lock is valid only if a second attempt on the path finds it taken.
    const again = lockAt(path);
    if (again === 'taken') return lock;
    lock.release();
    if (again !== 'gone') again.release();
  }
  throw new SkillFailure(
    'busy',
    'Another command changes the skills of this folder. Try again when it is done.',
  );
}

function buildForeignFolderFailure(): SkillFailure {
  return new SkillFailure(
    'lock_invalid',
    `\`${CHANGE_FOLDER}\` is not in the form of this program. Review its content, then remove it.`,
  );
}

function lockAt(path: string): Lock | 'taken' | 'gone' {
  try {
    return takeLock(path) ?? 'taken';
  } catch (error) {
    if (existsSync(dirname(path))) throw error;
    return 'gone';
  }
}

/** The names that a change creates in its folder. Other files there are never deleted. */
const OURS = /^(?:(?:new|old)-[0-9]{1,6}|plan|plan\.json|lock)$/;
const ALL = new RegExp(`${OURS.source}|^turn\\.lock`);

async function clearFolder(folder: string, names: RegExp): Promise<void> {
  const left = (await readdir(folder)).filter((name) => names.test(name));
  for (const name of left) await rm(join(folder, name), { force: true });
}

/** The effect of a change on folders. */
export interface AppliedSkillChange {
  /** Folders that were removed because they were empty. */
  readonly folders_removed: readonly string[];
}

/**
 * Applies a change atomically: stages it, then moves the files one by one, the lock file last. `check` inspects
 * the result; if it throws, everything is rolled back. The caller must hold the lock.
 * @throws SkillFailure `conflict` if a file has changed since the change was planned
 */
export async function applyChange(
  base_dir: string,
  changes: readonly FileChange[],
  lock: SkillsLock,
  check: () => Promise<void>,
): Promise<AppliedSkillChange> {
  const folder = join(base_dir, CHANGE_FOLDER);
  const made = await listMissingFolders(base_dir, changes);
  const { next, leaving } = withFolders(lock, made);
  const lock_after = isEmpty(next) ? null : formatLock(next);
  const plan: Plan = {
    version: 'v1alpha1',
    changes: changes.map(({ path, action, before, after }) => ({ path, action, before, after })),
    folders_made: made,
    folders_leaving: leaving,
    lock_before: await lockHash(base_dir),
    lock_after: lock_after === null ? null : hashSha256(lock_after),
  };
  await makeReady(base_dir, changes, plan);
  try {
    for (const path of made) await mkdir(join(base_dir, path));
    for (const [at, change] of changes.entries()) await moveFile(base_dir, change, at);
    await syncFolders(base_dir, changes);
    await check();
    if (lock_after === null) await rm(join(base_dir, LOCK_FILE), { force: true });
    else await replaceDurably(join(base_dir, LOCK_FILE), lock_after, join(folder, 'lock'));
  } catch (error) {
    await revertChanges(base_dir, plan);
    throw error;
  }
  const folders_removed = await removeFolders(base_dir, leaving);
  await rm(join(folder, PLAN));
  await syncFolder(base_dir);
  return { folders_removed };
}

const PLAN = 'plan.json';
const staged = (base_dir: string, at: number) => join(base_dir, CHANGE_FOLDER, `new-${at}`);
const saved = (base_dir: string, at: number) => join(base_dir, CHANGE_FOLDER, `old-${at}`);

async function makeReady(base_dir: string, changes: readonly FileChange[], plan: Plan): Promise<void> {
  for (const [at, { path, text, before }] of changes.entries()) {
    if (text !== null) await writeDurably(staged(base_dir, at), text);
    if (before !== null) await linkOrCopy(join(base_dir, path), saved(base_dir, at));
  }
  const folder = join(base_dir, CHANGE_FOLDER);
  await replaceDurably(join(folder, PLAN), JSON.stringify(plan), join(folder, 'plan'));
  await syncFolder(base_dir);
}

/** Only files that are unchanged since the change was planned are replaced or removed. */
async function moveFile(base_dir: string, { path, action, before }: FileChange, at: number): Promise<void> {
  const target = join(base_dir, path);
  const existing = await readPathState(base_dir, path);
  const is_as_planned =
    before === null ? existing === 'nothing' : typeof existing === 'object' && existing.sha256 === before;
  if (!is_as_planned) throw buildConflictFailure(path);
  if (action === 'delete') await rm(target);
  else if (action === 'replace') await rename(staged(base_dir, at), target);
  else await createAt(staged(base_dir, at), target, path);
}

async function createAt(from: string, target: string, path: string): Promise<void> {
  await linkOrCopy(from, target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? buildConflictFailure(path) : error;
  });
}

function buildConflictFailure(path: string): SkillFailure {
  return new SkillFailure(
    'conflict',
    `\`${path}\` was changed in the meantime. Nothing was changed; try again.`,
  );
}

/**
 * Returns whether a change next to a configuration was started and neither finished nor rolled back. It may
 * still be running.
 */
export function isInterrupted(base_dir: string): boolean {
  return existsSync(join(base_dir, CHANGE_FOLDER, PLAN));
}

/** Rolls back an interrupted change, or finishes it if only the cleanup was missing. */
async function recoverChange(base_dir: string): Promise<boolean> {
  const read = await readText(join(base_dir, CHANGE_FOLDER, PLAN));
  if (!read.ok) return false;
  const plan = getPlan(read.text);
  for (const { path } of plan.changes) await assertInside(base_dir, path);
  const is_done = plan.lock_before !== plan.lock_after && (await lockHash(base_dir)) === plan.lock_after;
  if (is_done) await removeFolders(base_dir, plan.folders_leaving);
  else await revertChanges(base_dir, plan);
  await rm(join(base_dir, CHANGE_FOLDER, PLAN));
  return true;
}

/** A plan can come with a checkout, so it is trusted only if this module could have written it. */
function getPlan(text: string): Plan {
  try {
    const plan = JSON.parse(text) as Plan;
    const paths_fit = plan.changes.every(({ path }) => findFileKind(path) !== null);
    const folders = [...plan.folders_made, ...plan.folders_leaving];
    if (paths_fit && folders.every((folder) => SKILL_FOLDERS.includes(folder))) return plan;
  } catch {
    // A file that is not a plan gets the same error as a plan that matches nothing.
  }
  throw buildForeignFolderFailure();
}

/** Restores every file that is as the change left it. Files that were edited since are kept. */
async function revertChanges(base_dir: string, plan: Plan): Promise<void> {
  for (const [at, { path, before, after }] of [...plan.changes.entries()].reverse()) {
    const target = join(base_dir, path);
    const existing = await readPathState(base_dir, path);
    const is_ours =
      after === null ? existing === 'nothing' : typeof existing === 'object' && existing.sha256 === after;
    if (!is_ours) continue;
    if (before === null) await rm(target);
    else await rename(saved(base_dir, at), target);
  }
  await removeFolders(base_dir, plan.folders_made);
  await syncFolders(base_dir, plan.changes);
}

/** Returns the folders to create, parents first. */
async function listMissingFolders(
  base_dir: string,
  changes: readonly FileChange[],
): Promise<readonly string[]> {
  const wanted = new Set<string>();
  for (const { path, action } of changes) {
    for (let folder = dirname(path); action === 'create' && folder !== '.'; folder = dirname(folder))
      wanted.add(folder);
  }
  return [...wanted].filter((folder) => !existsSync(join(base_dir, folder))).sort();
}

/** Returns the lock with the folders to create, and the folders that no skill needs any more. */
function withFolders(
  lock: SkillsLock,
  made: readonly string[],
): { next: SkillsLock; leaving: readonly string[] } {
  const files = Object.values(lock.skills).flatMap((skill) => Object.keys(skill.files));
  const isNeeded = (folder: string) => files.some((path) => path.startsWith(`${folder}/`));
  const all = [...new Set([...lock.folders, ...made])].sort();
  return {
    next: { ...lock, folders: all.filter(isNeeded) },
    leaving: all.filter((folder) => !isNeeded(folder)),
  };
}

function isEmpty({ skills }: SkillsLock): boolean {
  return Object.keys(skills).length === 0;
}

/** Removes the empty folders, children first. */
async function removeFolders(base_dir: string, folders: readonly string[]): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const folder of [...folders].sort().reverse()) {
    const went = await rmdir(join(base_dir, folder)).then(
      () => true,
      () => false,
    );
    if (went) removed.push(folder);
  }
  return removed;
}

async function syncFolders(base_dir: string, changes: readonly Pick<FileChange, 'path'>[]): Promise<void> {
  const folders = new Set(changes.map(({ path }) => dirname(path)));
  for (const folder of folders) {
    if (existsSync(join(base_dir, folder))) await syncFolder(join(base_dir, folder));
  }
}

async function lockHash(base_dir: string): Promise<string | null> {
  const existing = await readPathState(base_dir, LOCK_FILE);
  return typeof existing === 'object' ? existing.sha256 : null;
}
