import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkillsLock } from '../packages/lock-file.ts';

/** The entries of `skills.lock` for installed files, by their real paths. */
export type LockedFiles =
  | ReadonlyMap<string, { readonly skill: string; readonly sha256: string }>
  /** The lock file exists but cannot be trusted. */
  | 'unreadable';

/** Reads the lock file next to a configuration. */
export async function readLockedFiles(baseDir: string): Promise<LockedFiles> {
  const { readLock } = await import('../packages/lock-file.ts');
  const lock = await readLock(baseDir).catch(() => null);
  return lock === null ? 'unreadable' : resolveLockedFiles(lock, baseDir);
}

/** Resolves the paths of a present or planned lock file. */
export async function resolveLockedFiles({ skills }: SkillsLock, baseDir: string): Promise<LockedFiles> {
  const root = await realpath(baseDir);
  return new Map(
    Object.entries(skills).flatMap(([skill, { files }]) =>
      Object.entries(files).map(([path, sha256]) => [join(root, path), { skill, sha256 }] as const),
    ),
  );
}

/**
 * Returns why an existing file must not run: a skill installed it, and its content has changed since.
 * @param path - without links in it
 * @returns the predicate of a sentence, or `null` if the file matches
 */
export function findLockMismatch(locked: LockedFiles, path: string, sha256: string): string | null {
  if (locked === 'unreadable')
    return 'may belong to a skill, and `skills.lock` next to the configuration cannot be read; `customshouse skills list` shows why';
  const entry = locked.get(path);
  if (entry === undefined || entry.sha256 === sha256) return null;
  return `differs from the file that the skill \`${entry.skill}\` installed (\`skills.lock\`); review it, move it away, and add the skill again`;
}
