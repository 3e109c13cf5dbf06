/**
 * Backups of a state folder, made while the service runs. A backup is a folder with the state below `state`, and with
 * `backup.json`, which is written last and has the size and the hash of each file.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { backUpSqlite } from '../drivers/stores/sqlite-backup.ts';
import { CommandFailure, EXIT } from '../operations/cli-kit/command-failure.ts';
import { makeFolder } from '../platform/files/folder.ts';
import { readOwnFile } from '../platform/files/own-file.ts';
import { parseStoreSettings, type StorageConfig, type StoreSettings } from '../platform/store/settings.ts';
import { syncDir, writeFileDurably } from '../runtime/audit/files.ts';
import { loadPublicKeys, type VerifyReport, verifyJournal } from '../runtime/audit/index.ts';
import { type JournalPart, measureJournal } from '../runtime/audit/journal-cut.ts';
import {
  type BackedUpFile,
  copyDecompressed,
  copyFile,
  copyText,
  hashFile,
  listFiles,
} from './backup-files.ts';

/** The content of `backup.json`. */
export interface BackupManifest {
  readonly format: 1;
  /** The program that made the backup. */
  readonly version: string;
  /** ISO 8601: all that was acknowledged before is in it. */
  readonly started_at: string;
  /** `postgres`: the store is not in it. */
  readonly store: StoreSettings['kind'];
  readonly files: readonly BackedUpFile[];
}

export const MANIFEST_NAME = 'backup.json';
const STATE = 'state';
const JOURNAL = 'journal';
const STORE = 'store.db';
/** Made from the journal again, or only of use to running processes. */
const LEFT_NAMES = /^(?:index\.db.*|store\.db.*|owner\.(?:lock|json)|lock|.*\.(?:tmp|sock|pid|log))$/;
/** Retention may delete files of the journal during a copy. */
const TRIES_MAX = 3;

/**
 * Makes a backup.
 * @param target - a folder that is not there yet, or is empty
 * @throws CommandFailure `not_found` without a state, `target_in_use`
 */
export async function makeBackup(
  config: StorageConfig,
  version: string,
  target: string,
): Promise<BackupManifest> {
  const { state_dir: stateDir } = config;
  if (!existsSync(join(stateDir, JOURNAL)))
    throw new CommandFailure(EXIT.no, 'not_found', `There is no state in \`${stateDir}\`.`, {
      hint: 'Name the configuration of the service with --config.',
    });
  if (isInside(target, stateDir))
    throw new CommandFailure(EXIT.usage, 'target_in_use', 'The backup cannot be in the state folder itself.');
  await requireEmpty(target);
  const startedAt = new Date().toISOString();
  const copy = join(target, STATE);
  makeFolder(copy);
  const files = [
    // Before the journal: a spooled event that the service chains meanwhile is then in both, and is chained once.
    ...(await copySpool(stateDir, copy)),
    ...(await copyJournal(stateDir, copy)),
    ...(await copyOthers(stateDir, copy)),
  ];
  const settings = parseStoreSettings(config);
  // After the journal, so that what was used up by a recorded decision is used up in the store.
  if (settings.kind === 'sqlite' && existsSync(settings.path)) {
    await backUpSqlite(settings.path, join(copy, STORE));
    files.push({ path: STORE, ...(await hashFile(join(copy, STORE))) });
  }
  const manifest: BackupManifest = { format: 1, version, started_at: startedAt, store: settings.kind, files };
  await writeFileDurably(join(target, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

async function copySpool(stateDir: string, copy: string): Promise<BackedUpFile[]> {
  const folder = join(JOURNAL, 'spool');
  return copyAll(
    stateDir,
    copy,
    (await listFiles(join(stateDir, folder))).map((path) => join(folder, path)),
  );
}

async function copyJournal(stateDir: string, copy: string): Promise<BackedUpFile[]> {
  for (let tries = 1; ; tries++) {
    // The order may end before the journal; the service adds the rest to it.
    const files = await copyAll(stateDir, copy, [join(JOURNAL, 'order')]);
    const parts = await measureJournal(join(stateDir, JOURNAL));
    try {
      for (const part of parts)
        files.push(await copyPart(join(stateDir, JOURNAL), join(copy, JOURNAL), part));
      return files;
    } catch (error) {
      if (!isMissing(error) || tries === TRIES_MAX) throw error;
      for (const { path } of files) await rm(join(copy, path), { force: true });
      for (const { path } of parts) await rm(join(copy, JOURNAL, path), { force: true });
    }
  }
}

async function copyPart(journal: string, copy: string, part: JournalPart): Promise<BackedUpFile> {
  const [source, target] = [join(journal, part.path), join(copy, part.path)];
  const path = toPortable(join(JOURNAL, part.path));
  if ('text' in part) return { path, ...(await copyText(part.text, target)) };
  const copied = await copyFile(source, target, part.bytes).catch(async (error) => {
    if (!isMissing(error)) throw error;
    // It was closed and compressed meanwhile.
    return copyDecompressed(`${source}.gz`, target, part.bytes);
  });
  return { path, ...copied };
}

async function copyOthers(stateDir: string, copy: string): Promise<BackedUpFile[]> {
  const paths = (await listFiles(stateDir)).filter(
    (path) => !path.startsWith(`${JOURNAL}${sep}`) && !LEFT_NAMES.test(basename(path)),
  );
  return copyAll(stateDir, copy, paths);
}

/** Copies files as far as they are still there. */
async function copyAll(from: string, to: string, paths: readonly string[]): Promise<BackedUpFile[]> {
  const files: BackedUpFile[] = [];
  for (const path of paths) {
    if (LEFT_NAMES.test(basename(path))) continue;
    const copied = await copyFile(join(from, path), join(to, path)).catch((error) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (copied !== null) files.push({ path: toPortable(path), ...copied });
  }
  return files;
}

export interface RestoreReport {
  readonly manifest: BackupManifest;
  readonly audit: VerifyReport;
}

/**
 * Restores a backup as the state that a configuration names. Checks each file before it writes one.
 * @throws CommandFailure `backup_invalid`, or `target_in_use` if there is a state already
 */
export async function restoreBackup(source: string, config: StorageConfig): Promise<RestoreReport> {
  const manifest = await readManifest(source);
  const { state_dir: stateDir } = config;
  const settings = parseStoreSettings(config);
  if (settings.kind !== manifest.store) throw buildStoreFailure(manifest, settings);
  await requireEmpty(stateDir);
  if (settings.kind === 'sqlite' && existsSync(settings.path)) throw buildInUseFailure(settings.path);
  for (const file of manifest.files) await checkFile(source, file);
  const existed = existsSync(stateDir);
  const staged = join(existed ? stateDir : dirname(stateDir), `.restore-${process.pid}`);
  try {
    makeFolder(staged);
    for (const file of manifest.files) {
      const target = join(staged, file.path);
      const copied = await copyFile(join(source, STATE, file.path), target);
      if (copied.sha256 !== file.sha256) throw buildInvalidFailure(file.path, 'changed during the copy');
    }
    await placeStore(staged, settings, stateDir);
    if (existed) await moveEntries(staged, stateDir);
    else await rename(staged, stateDir);
    await syncDir(dirname(stateDir));
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    throw error;
  }
  const keys = await loadPublicKeys(join(stateDir, 'keys'));
  return { manifest, audit: await verifyJournal({ dir: join(stateDir, JOURNAL), public_keys: keys }) };
}

/** Moves the store to where the configuration has it, if that is not the state folder. */
async function placeStore(staged: string, settings: StoreSettings, stateDir: string): Promise<void> {
  const restored = join(staged, STORE);
  if (settings.kind !== 'sqlite' || settings.path === join(stateDir, STORE) || !existsSync(restored)) return;
  makeFolder(dirname(settings.path));
  await copyFile(restored, settings.path);
  await rm(restored);
}

/** A volume is mounted at the folder, so it cannot be replaced. */
async function moveEntries(staged: string, stateDir: string): Promise<void> {
  for (const name of await readdir(staged)) await rename(join(staged, name), join(stateDir, name));
  await rmdir(staged);
  await syncDir(stateDir);
}

const MANIFEST_BYTES_MAX = 268_435_456;
/** One component of a path: a name that stays in its folder. */
const COMPONENT = /^(?!\.{1,2}$)[^/\\\p{Cc}]{1,255}$/u;

async function readManifest(source: string): Promise<BackupManifest> {
  const text = await readOwnFile(join(source, MANIFEST_NAME), MANIFEST_BYTES_MAX).catch((error) => {
    if (isMissing(error))
      throw buildInvalidFailure(MANIFEST_NAME, 'missing, so the backup was not completed');
    throw error;
  });
  const manifest = parseManifest(text);
  if (manifest === null) throw buildInvalidFailure(MANIFEST_NAME, 'not the list of a backup of this program');
  return manifest;
}

function parseManifest(text: string): BackupManifest | null {
  try {
    const { format, version, started_at, store, files } = JSON.parse(text) as BackupManifest;
    const isKnown = format === 1 && (store === 'sqlite' || store === 'postgres');
    if (!isKnown || typeof version !== 'string' || typeof started_at !== 'string') return null;
    return files.every(isFile) ? { format, version, started_at, store, files } : null;
  } catch {
    return null;
  }
}

function isFile({ path, bytes, sha256 }: BackedUpFile): boolean {
  const isPath = typeof path === 'string' && path.split('/').every((part) => COMPONENT.test(part));
  return isPath && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(sha256);
}

async function checkFile(source: string, { path, bytes, sha256 }: BackedUpFile): Promise<void> {
  const found = await hashFile(join(source, STATE, path)).catch((error) => {
    if (isMissing(error)) throw buildInvalidFailure(path, 'missing');
    throw error;
  });
  if (found.bytes !== bytes || found.sha256 !== sha256)
    throw buildInvalidFailure(path, 'not as it was backed up');
}

async function requireEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
  // A new volume of a Linux file system has this folder.
  if (entries.some((name) => name !== 'lost+found')) throw buildInUseFailure(folder);
}

function buildInUseFailure(path: string): CommandFailure {
  return new CommandFailure(
    EXIT.no,
    'target_in_use',
    `\`${path}\` is not empty, and nothing is overwritten.`,
    {
      hint: 'Name an empty folder, or move this one away.',
    },
  );
}

function buildInvalidFailure(path: string, what: string): CommandFailure {
  return new CommandFailure(EXIT.no, 'backup_invalid', `\`${path}\` of the backup is ${what}.`, {
    hint: 'Nothing was restored. Use another backup.',
  });
}

function buildStoreFailure({ store }: BackupManifest, settings: StoreSettings): CommandFailure {
  const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
  return new CommandFailure(
    EXIT.usage,
    'backup_invalid',
    `The backup is of a service with ${names[store]}, and the configuration names ${names[settings.kind]}.`,
    { hint: 'Set `storage.url` as it was, or name the configuration with --config.' },
  );
}

function isInside(path: string, folder: string): boolean {
  const between = relative(folder, path);
  return between === '' || !(between === '..' || between.startsWith(`..${sep}`));
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function toPortable(path: string): string {
  return path.split(sep).join('/');
}
