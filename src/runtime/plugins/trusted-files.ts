import { createHash } from 'node:crypto';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { StartFailure } from '../../platform/failure.ts';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { getUserConfigFolder } from '../../platform/files/user-folder.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { resolveRealPath } from '../config/real-file.ts';
import type { ConfigOrigin } from '../config/schema.ts';
import { hashPluginFiles, type PluginFile } from './plugin-files.ts';
import { findTrustProblem } from './trust.ts';
import type { PluginSource } from './types.ts';

/** The file hashes that a user trusts in one project, by path. */
type TrustedHashes = ReadonlyMap<string, string>;

export type TrustStatus = 'trusted' | 'changed' | 'new';

/** Files that need no user record. */
interface OperatorTrust {
  /** Real folder paths. */
  readonly folders: readonly string[];
  readonly hashes: ReadonlySet<string>;
}

/** Names folders and SHA-256 hashes that an operator trusts, separated as in `PATH`. A project's files cannot set it. */
const TRUST_VARIABLE = 'SERVICE_TRUSTED_PLUGINS';
const RECORD_BYTES_MAX = 1_048_576;

/**
 * Ensures that the user has trusted every plug-in's code, before any runs. Code in a project that was only
 * downloaded must not run because a command was typed in its folder.
 *
 * @param reviewed - SHA-256 hashes to which the operator has agreed just now
 * @throws StartFailure `config_invalid` with a problem for each plug-in that is not trusted
 */
export async function assertTrusted(
  sources: readonly PluginSource[],
  origin: ConfigOrigin,
  reviewed: ReadonlySet<string> = new Set(),
): Promise<void> {
  const problems: DocumentProblem[] = [];
  for (const source of sources) {
    const why = await findMissingTrust(source, origin, reviewed);
    if (why !== null) problems.push(buildConfigProblem(source.from, [], why));
  }
  if (problems.length > 0)
    throw new StartFailure(
      'config_invalid',
      'No plug-in was run, because the user has not trusted them all.',
      problems,
    );
}

/** Returns why a plug-in is not trusted, as a predicate; `null` if it is. */
export async function findMissingTrust(
  source: PluginSource,
  origin: ConfigOrigin,
  reviewed: ReadonlySet<string> = new Set(),
): Promise<string | null> {
  const operator = readOperatorTrust();
  if (listTrustedFolders(origin, operator).some((folder) => isBelow(source.path, folder))) return null;
  const todo = `read it, then run \`customshouse plugins trust --config ${origin.file}\``;
  const files = await hashPluginFiles(source.path).catch((error: Error) => error);
  if (files instanceof Error) return `cannot be checked (${files.message}); ${todo}`;
  const trusted = await readTrustedHashes(origin.base_dir);
  for (const file of files) {
    if (operator.hashes.has(file.sha256) || reviewed.has(file.sha256)) continue;
    const status = getTrustStatus(file, trusted);
    if (status === 'trusted') continue;
    const what =
      status === 'changed'
        ? 'has changed since this user trusted it'
        : 'is code that this user has not trusted';
    const named = file.path === source.path ? what : `imports \`${file.path}\`, which ${what}`;
    return `${named}; ${todo}`;
  }
  return null;
}

/** Compares a file with the files that a user trusts. */
export function getTrustStatus({ path, sha256 }: PluginFile, trusted: TrustedHashes): TrustStatus {
  const known = trusted.get(path);
  if (known === undefined) return 'new';
  return known === sha256 ? 'trusted' : 'changed';
}

/** Returns the hashes that this user trusts in a project; none if the record is missing, damaged or not the user's. */
export async function readTrustedHashes(baseDir: string): Promise<TrustedHashes> {
  const path = getRecordPath(baseDir);
  try {
    if ((await findTrustProblem(path)) !== null) return new Map();
    const { files } = JSON.parse(await readOwnFile(path, RECORD_BYTES_MAX)) as TrustRecord;
    return new Map(Object.entries(files));
  } catch {
    return new Map();
  }
}

/** One project's record. */
interface TrustRecord {
  /** The project's real path, for a person who reads the file. */
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Writes the files that this user trusts in a project, in place of those before. */
export function writeTrustedFiles(baseDir: string, files: readonly PluginFile[]): void {
  const record: TrustRecord = {
    folder: resolveRealPath(baseDir),
    files: Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])),
  };
  writePrivateFile(getRecordPath(baseDir), JSON.stringify(record), 'replace');
}

/** Adds files to those that this user trusts in a project. Writes nothing if all are trusted already. */
export async function addTrustedFiles(baseDir: string, files: readonly PluginFile[]): Promise<void> {
  const trusted = await readTrustedHashes(baseDir);
  if (files.every((file) => getTrustStatus(file, trusted) === 'trusted')) return;
  const before = [...trusted].map(([path, sha256]) => ({ path, sha256 }));
  writeTrustedFiles(baseDir, [...before, ...files]);
}

/** One file for each project, so that two commands in two projects do not overwrite each other. */
function getRecordPath(baseDir: string): string {
  const name = createHash('sha256').update(resolveRealPath(baseDir)).digest('hex');
  return join(getUserConfigFolder(), 'trusted-plugins', `${name}.json`);
}

/** A configuration that belongs to the system or the user is no project, and neither are the plug-ins next to it. */
function listTrustedFolders({ base_dir }: ConfigOrigin, { folders }: OperatorTrust): readonly string[] {
  const own = ['/etc', getUserConfigFolder()].map(resolveRealPath);
  return [...folders, ...own.filter((folder) => isBelow(resolveRealPath(base_dir), folder))];
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function readOperatorTrust(): OperatorTrust {
  const named = (process.env[TRUST_VARIABLE] ?? '').split(delimiter);
  return {
    folders: named.filter(isAbsolute).map(resolveRealPath),
    hashes: new Set(named.filter((name) => /^[0-9a-f]{64}$/.test(name))),
  };
}
