import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findLockMismatch, type LockedFiles } from './locked-files.ts';
import { findTrustProblem } from './trust.ts';
import type { PluginSource } from './types.ts';

/** The result of checking a file. `why` is the predicate of a sentence. */
export type VettingResult =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly why: string; readonly sha256: string | null };

/**
 * Checks the file of a plug-in: that only trusted users can write it, and that it matches its skill's lock
 * entry. Never rejects.
 */
export async function vetPlugin({ kind, path }: PluginSource, locked: LockedFiles): Promise<VettingResult> {
  try {
    const why = await findTrustProblem(path);
    if (why !== null) return { ok: false, why, sha256: null };
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    // Skills contain files, not packages.
    const changed = kind === 'file' ? findLockMismatch(locked, path, sha256) : null;
    return changed === null ? { ok: true, sha256 } : { ok: false, why: changed, sha256 };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { ok: false, why: `could not be read (${code})`, sha256: null };
  }
}
