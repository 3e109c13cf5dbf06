import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkillsLock } from '../packages/lock-file.ts';

/** What `skills.lock` says of the files that skills put in place, by their real paths. */
export type LockedFiles =
  | ReadonlyMap<string, { readonly skill: string; readonly sha256: string }>
  /** There is one, and it cannot be believed. */
  | 'unreadable';

/** Reads what the lock file beside a configuration says. */
export async function readLockedFiles(base_dir: string): Promise<LockedFiles> {
  const { readLock } = await import('../packages/lock-file.ts');
  const lock = await readLock(base_dir).catch(() => null);
  return lock === null ? 'unreadable' : resolveLockedFiles(lock, base_dir);
}

/** What a lock file says, or would say. */
export async function resolveLockedFiles({ skills }: SkillsLock, base_dir: string): Promise<LockedFiles> {
  const root = await realpath(base_dir);
  return new Map(
    Object.entries(skills).flatMap(([skill, { files }]) =>
      Object.entries(files).map(([path, sha256]) => [join(root, path), { skill, sha256 }] as const),
    ),
  );
}

/**
 * Why a file is not run though it is there: a skill put it in place, and it is another one since.
 * @param path without links in it
 * @returns the predicate of a sentence, or `null` where nothing is said against it
 */
export function findLockMismatch(locked: LockedFiles, path: string, sha256: string): string | null {
  if (locked === 'unreadable')
    return 'may belong to a skill, and `skills.lock` next to the configuration cannot be read; `service skills list` shows why';
  const entry = locked.get(path);
  if (entry === undefined || entry.sha256 === sha256) return null;
  return `differs from the file that the skill \`${entry.skill}\` installed (\`skills.lock\`); review it, move it away, and add the skill again`;
}
