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
export async function lockSkillsFolder(baseDir: string): Promise<SkillsFolderLock> {
  const folder = join(baseDir, CHANGE_FOLDER);
  const lock = await lockFolder(folder);
  try {
    const recovered = await recoverChange(baseDir);
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
  baseDir: string,
  changes: readonly FileChange[],
  lock: SkillsLock,
  check: () => Promise<void>,
): Promise<AppliedSkillChange> {
  const folder = join(baseDir, CHANGE_FOLDER);
  const made = await listMissingFolders(baseDir, changes);
  const { next, leaving } = withFolders(lock, made);
  const lockAfter = isEmpty(next) ? null : formatLock(next);
  const plan: Plan = {
    version: 'v1alpha1',
    changes: changes.map(({ path, action, before, after }) => ({ path, action, before, after })),
    folders_made: made,
    folders_leaving: leaving,
    lock_before: await lockHash(baseDir),
    lock_after: lockAfter === null ? null : hashSha256(lockAfter),
  };
  await makeReady(baseDir, changes, plan);
  try {
    for (const path of made) await mkdir(join(baseDir, path));
    for (const [at, change] of changes.entries()) await moveFile(baseDir, change, at);
    await syncFolders(baseDir, changes);
    await check();
    if (lockAfter === null) await rm(join(baseDir, LOCK_FILE), { force: true });
    else await replaceDurably(join(baseDir, LOCK_FILE), lockAfter, join(folder, 'lock'));
  } catch (error) {
    await revertChanges(baseDir, plan);
    throw error;
  }
  const foldersRemoved = await removeFolders(baseDir, leaving);
  await rm(join(folder, PLAN));
  await syncFolder(baseDir);
  return { folders_removed: foldersRemoved };
}

const PLAN = 'plan.json';
const staged = (baseDir: string, at: number) => join(baseDir, CHANGE_FOLDER, `new-${at}`);
const saved = (baseDir: string, at: number) => join(baseDir, CHANGE_FOLDER, `old-${at}`);

async function makeReady(baseDir: string, changes: readonly FileChange[], plan: Plan): Promise<void> {
  for (const [at, { path, text, before }] of changes.entries()) {
    if (text !== null) await writeDurably(staged(baseDir, at), text);
    if (before !== null) await linkOrCopy(join(baseDir, path), saved(baseDir, at));
  }
  const folder = join(baseDir, CHANGE_FOLDER);
  await replaceDurably(join(folder, PLAN), JSON.stringify(plan), join(folder, 'plan'));
  await syncFolder(baseDir);
}

/** Only files that are unchanged since the change was planned are replaced or removed. */
async function moveFile(baseDir: string, { path, action, before }: FileChange, at: number): Promise<void> {
  const target = join(baseDir, path);
  const existing = await readPathState(baseDir, path);
  const isAsPlanned =
    before === null ? existing === 'nothing' : typeof existing === 'object' && existing.sha256 === before;
  if (!isAsPlanned) throw buildConflictFailure(path);
  if (action === 'delete') await rm(target);
  else if (action === 'replace') await rename(staged(baseDir, at), target);
  else await createAt(staged(baseDir, at), target, path);
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
export function isInterrupted(baseDir: string): boolean {
  return existsSync(join(baseDir, CHANGE_FOLDER, PLAN));
}

/** Rolls back an interrupted change, or finishes it if only the cleanup was missing. */
async function recoverChange(baseDir: string): Promise<boolean> {
  const read = await readText(join(baseDir, CHANGE_FOLDER, PLAN));
  if (!read.ok) return false;
  const plan = getPlan(read.text);
  for (const { path } of plan.changes) await assertInside(baseDir, path);
  const isDone = plan.lock_before !== plan.lock_after && (await lockHash(baseDir)) === plan.lock_after;
  if (isDone) await removeFolders(baseDir, plan.folders_leaving);
  else await revertChanges(baseDir, plan);
  await rm(join(baseDir, CHANGE_FOLDER, PLAN));
  return true;
}

/** A plan can come with a checkout, so it is trusted only if this module could have written it. */
function getPlan(text: string): Plan {
  try {
    const plan = JSON.parse(text) as Plan;
    const pathsFit = plan.changes.every(({ path }) => findFileKind(path) !== null);
    const folders = [...plan.folders_made, ...plan.folders_leaving];
    if (pathsFit && folders.every((folder) => SKILL_FOLDERS.includes(folder))) return plan;
  } catch {
    // A file that is not a plan gets the same error as a plan that matches nothing.
  }
  throw buildForeignFolderFailure();
}

/** Restores every file that is as the change left it. Files that were edited since are kept. */
async function revertChanges(baseDir: string, plan: Plan): Promise<void> {
  for (const [at, { path, before, after }] of [...plan.changes.entries()].reverse()) {
    const target = join(baseDir, path);
    const existing = await readPathState(baseDir, path);
    const isOurs =
      after === null ? existing === 'nothing' : typeof existing === 'object' && existing.sha256 === after;
    if (!isOurs) continue;
    if (before === null) await rm(target);
    else await rename(saved(baseDir, at), target);
  }
  await removeFolders(baseDir, plan.folders_made);
  await syncFolders(baseDir, plan.changes);
}

/** Returns the folders to create, parents first. */
async function listMissingFolders(
  baseDir: string,
  changes: readonly FileChange[],
): Promise<readonly string[]> {
  const wanted = new Set<string>();
  for (const { path, action } of changes) {
    for (let folder = dirname(path); action === 'create' && folder !== '.'; folder = dirname(folder))
      wanted.add(folder);
  }
  return [...wanted].filter((folder) => !existsSync(join(baseDir, folder))).sort();
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
async function removeFolders(baseDir: string, folders: readonly string[]): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const folder of [...folders].sort().reverse()) {
    const went = await rmdir(join(baseDir, folder)).then(
      () => true,
      () => false,
    );
    if (went) removed.push(folder);
  }
  return removed;
}

async function syncFolders(baseDir: string, changes: readonly Pick<FileChange, 'path'>[]): Promise<void> {
  const folders = new Set(changes.map(({ path }) => dirname(path)));
  for (const folder of folders) {
    if (existsSync(join(baseDir, folder))) await syncFolder(join(baseDir, folder));
  }
}

async function lockHash(baseDir: string): Promise<string | null> {
  const existing = await readPathState(baseDir, LOCK_FILE);
  return typeof existing === 'object' ? existing.sha256 : null;
}
