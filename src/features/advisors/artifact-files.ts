import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { AdvisorResult } from '../../core/advisors/types.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { replaceDurably, syncFolder, writeDurably } from '../../runtime/skills/write-durably.ts';

/** The folder in which proposals wait until they are applied. */
export const STAGING_FOLDER = '.safeai-generated';

/** A change that cannot be made: a code for programs, and a sentence with the next step. */
export class ArtifactFailure extends Error {
  readonly code: 'conflict' | 'not_found';
  constructor(code: ArtifactFailure['code'], message: string) {
    super(message);
    this.name = 'ArtifactFailure';
    this.code = code;
  }
}

type Artifacts = AdvisorResult['artifacts'];

/**
 * The paths that are written: relative, of plain names, without a hidden part. The advisors allow fewer; this is
 * checked again for every write.
 */
const PATH = /^(?:[a-z][a-z0-9_-]{0,60}\/)?[a-z0-9][a-z0-9_-]{0,60}\.(?:yaml|py|ts|mts|mjs|js)$/;

/** The file that marks a folder of proposals. */
const STAGING_MARK = '.advisor-proposals';
const STAGING_TEXT = 'Proposals of `customshouse intelligence`. Nothing in this folder takes effect.\n';

/**
 * Writes proposals below a folder. Nothing takes effect, so the folder must be new, empty, or one of an earlier
 * proposal: never the project itself, whose files would be replaced unseen.
 *
 * @param isActive returns whether the service would read a file of this path
 * @throws ArtifactFailure `conflict`
 */
export async function stageArtifacts(
  folder: string,
  artifacts: Artifacts,
  isActive: (path: string) => boolean,
): Promise<readonly string[]> {
  const paths = Object.keys(artifacts);
  if (paths.length === 0) return [];
  await requireStagingFolder(folder);
  for (const path of paths) {
    await requireWritable(folder, path);
    if (isActive(join(folder, path)))
      throw new ArtifactFailure(
        'conflict',
        `The configuration reads \`${path}\` in the staging folder, so it would take effect. Choose another folder with \`--output-dir\`.`,
      );
  }
  await mkdir(folder, { recursive: true });
  const mark = join(folder, STAGING_MARK);
  await replaceDurably(mark, STAGING_TEXT, `${mark}.${randomBytes(6).toString('hex')}.tmp`);
  for (const path of paths) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await replaceDurably(target, artifacts[path]!, `${target}.${randomBytes(6).toString('hex')}.tmp`);
  }
  return paths;
}

/** The change of one file of a project. */
export interface ArtifactChange {
  readonly path: string;
  /** The present content; `null` if there is no file. */
  readonly before: string | null;
  readonly after: string;
}

/** Lists the files that differ from the proposals. @throws ArtifactFailure `conflict` */
export async function listArtifactChanges(
  root: string,
  artifacts: Artifacts,
): Promise<readonly ArtifactChange[]> {
  const changes: ArtifactChange[] = [];
  for (const [path, after] of Object.entries(artifacts)) {
    await requireWritable(root, path);
    const before = await readText(join(root, path));
    if (before !== after) changes.push({ path, before, after });
  }
  return changes;
}

/** The record of an applied change, `manifest.json` in its folder of the backups. */
interface AppliedChange {
  readonly root: string;
  /** The reason to weaken the policy; `null` if the change does not. */
  readonly note: string | null;
  /** The folders that the change creates, below the root. */
  readonly folders: readonly string[];
  readonly files: readonly {
    readonly path: string;
    /** SHA-256 in hex; `null` if there was no file. */
    readonly before: string | null;
    readonly after: string;
  }[];
}

interface ApplyOptions {
  readonly state_dir: string;
  readonly now_ms: number;
  readonly note: AppliedChange['note'];
}

const BACKUPS = 'advisor-backups';
const MANIFEST = 'manifest.json';
const BACKUPS_MAX = 20;

/**
 * Applies changes: the present files are saved in the state folder, then each file is replaced atomically. After a
 * failure all files are as before. `undoArtifacts` takes the last change back, also one that was interrupted.
 */
export async function applyArtifacts(
  root: string,
  changes: readonly ArtifactChange[],
  { state_dir, now_ms, note }: ApplyOptions,
): Promise<void> {
  const name = `${String(now_ms).padStart(15, '0')}-${randomBytes(4).toString('hex')}`;
  const backup = join(state_dir, BACKUPS, name);
  makeFolder(backup);
  for (const [at, { before }] of changes.entries())
    if (before !== null) await writeDurably(join(backup, `${at}`), before);
  const files = changes.map(({ path, before, after }) => ({
    path,
    before: before === null ? null : hashText(before),
    after: hashText(after),
  }));
  const applied: AppliedChange = { root, note, folders: await listMissingFolders(root, changes), files };
  await writeDurably(join(backup, MANIFEST), JSON.stringify(applied));
  await syncFolder(backup);
  try {
    for (const { path, before, after } of changes) {
      await requireWritable(root, path);
      const target = join(root, path);
      if ((await readText(target)) !== before)
        throw new ArtifactFailure(
          'conflict',
          `\`${path}\` was changed meanwhile, so nothing was applied. Run the command again.`,
        );
      await mkdir(dirname(target), { recursive: true });
      await replaceDurably(target, after, `${target}.${randomBytes(6).toString('hex')}.tmp`);
    }
  } catch (fault) {
    await restoreFiles(backup, applied, true);
    throw fault;
  }
  await pruneBackups(join(state_dir, BACKUPS));
}

async function listMissingFolders(
  root: string,
  changes: readonly ArtifactChange[],
): Promise<readonly string[]> {
  const folders = new Set(changes.map(({ path }) => dirname(path)).filter((folder) => folder !== '.'));
  const missing: string[] = [];
  for (const folder of folders)
    if ((await lstat(join(root, folder)).catch(ignoreMissing)) === null) missing.push(folder);
  return missing;
}

/** A change that was taken back. */
export interface UndoneChange {
  readonly root: string;
  readonly restored: readonly string[];
  readonly removed: readonly string[];
}

/** Takes the last applied change back. @throws ArtifactFailure `not_found` or `conflict` */
export async function undoArtifacts(stateDir: string): Promise<UndoneChange> {
  const folder = join(stateDir, BACKUPS);
  const names = (await readdir(folder).catch(() => [])).sort();
  const last = names.at(-1);
  if (last === undefined) throw new ArtifactFailure('not_found', 'There is no applied proposal to undo.');
  const backup = join(folder, last);
  const manifest = JSON.parse(await readFile(join(backup, MANIFEST), 'utf8')) as AppliedChange;
  const edited: string[] = [];
  for (const { path, before, after } of manifest.files) {
    const now = await readText(join(manifest.root, path));
    const hash = now === null ? null : hashText(now);
    if (hash !== after && hash !== before) edited.push(path);
  }
  if (edited.length > 0)
    throw new ArtifactFailure(
      'conflict',
      `Edited since they were applied, so nothing was undone: ${edited.map((path) => `\`${path}\``).join(', ')}. The former files are in \`${backup}\`.`,
    );
  return restoreFiles(backup, manifest, false);
}

/** Puts the former files back, and removes the backup. */
async function restoreFiles(
  backup: string,
  { root, folders, files }: AppliedChange,
  isRollback: boolean,
): Promise<UndoneChange> {
  const restored: string[] = [];
  const removed: string[] = [];
  for (const [at, { path, before, after }] of files.entries()) {
    const target = join(root, path);
    const now = await readText(target);
    // A rollback leaves a file alone that someone else has changed meanwhile.
    if (now === null ? before === null : hashText(now) !== after) continue;
    await requireWritable(root, path);
    if (before === null) {
      await rm(target, { force: true });
      removed.push(path);
    } else {
      const text = await readFile(join(backup, `${at}`), 'utf8');
      await replaceDurably(target, text, `${target}.${randomBytes(6).toString('hex')}.tmp`);
      restored.push(path);
    }
  }
  // A folder that is used meanwhile is not empty, and stays.
  for (const folder of folders) await rmdir(join(root, folder)).catch(() => {});
  const done = `${backup}.${isRollback ? 'failed' : 'undone'}`;
  await rename(backup, done);
  await rm(done, { recursive: true, force: true });
  return { root, restored, removed };
}

async function pruneBackups(folder: string): Promise<void> {
  const names = (await readdir(folder)).sort();
  for (const name of names.slice(0, Math.max(0, names.length - BACKUPS_MAX)))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** @throws ArtifactFailure `conflict` unless the path is allowed, and is a file or nothing, below real folders */
async function requireWritable(root: string, path: string): Promise<void> {
  if (!PATH.test(path))
    throw new ArtifactFailure('conflict', 'A proposed path is not allowed, so nothing was written.');
  const parts = path.split('/');
  for (let count = 1; count < parts.length; count += 1) {
    const folder = join(root, ...parts.slice(0, count));
    const there = await lstat(folder).catch(ignoreMissing);
    if (there !== null && !there.isDirectory())
      throw new ArtifactFailure(
        'conflict',
        `\`${parts.slice(0, count).join(sep)}\` is no folder, or is a link. Nothing was written.`,
      );
  }
  const there = await lstat(join(root, path)).catch(ignoreMissing);
  if (there !== null && !there.isFile())
    throw new ArtifactFailure(
      'conflict',
      `\`${path}\` is no regular file, or is a link. Nothing was written.`,
    );
}

/** @throws ArtifactFailure `conflict` unless the folder is new, empty, or one of an earlier proposal */
export async function requireStagingFolder(folder: string): Promise<void> {
  const there = await lstat(folder).catch(ignoreMissing);
  if (there === null) return;
  const names = there.isDirectory() ? await readdir(folder) : null;
  if (names === null || (names.length > 0 && !names.includes(STAGING_MARK)))
    throw new ArtifactFailure(
      'conflict',
      'The staging folder is a link, or has files that are not proposals. Nothing was written. Choose a new or empty folder with `--output-dir`.',
    );
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

/** Reads a regular file without following a link; `null` if there is none. */
async function readText(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(ignoreMissing);
  if (file === null) return null;
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
