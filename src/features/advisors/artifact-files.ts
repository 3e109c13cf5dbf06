import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
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

/** Writes proposals below a folder. Nothing takes effect. @throws ArtifactFailure `conflict` */
export async function stageArtifacts(folder: string, artifacts: Artifacts): Promise<readonly string[]> {
  const paths = Object.keys(artifacts);
  await requireNoLink(folder);
  for (const path of paths) await requireWritable(folder, path);
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
  readonly files: readonly {
    readonly path: string;
    /** SHA-256 in hex; `null` if there was no file. */
    readonly before: string | null;
    readonly after: string;
  }[];
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
  { state_dir, now_ms }: { readonly state_dir: string; readonly now_ms: number },
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
  await writeDurably(join(backup, MANIFEST), JSON.stringify({ root, files } satisfies AppliedChange));
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
    await restoreFiles(backup, { root, files }, true);
    throw fault;
  }
  await pruneBackups(join(state_dir, BACKUPS));
}

/** A change that was taken back. */
export interface UndoneChange {
  readonly root: string;
  readonly restored: readonly string[];
  readonly removed: readonly string[];
}

/** Takes the last applied change back. @throws ArtifactFailure `not_found` or `conflict` */
export async function undoArtifacts(state_dir: string): Promise<UndoneChange> {
  const folder = join(state_dir, BACKUPS);
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
  { root, files }: AppliedChange,
  is_rollback: boolean,
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
  const done = `${backup}.${is_rollback ? 'failed' : 'undone'}`;
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

async function requireNoLink(folder: string): Promise<void> {
  const there = await lstat(folder).catch(ignoreMissing);
  if (there !== null && !there.isDirectory())
    throw new ArtifactFailure(
      'conflict',
      'The staging folder is no folder, or is a link. Choose another one with `--output-dir`.',
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
