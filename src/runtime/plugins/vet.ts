import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findLockMismatch, type LockedFiles } from './locked.ts';
import { findTrustProblem } from './trust.ts';
import type { PluginSource } from './types.ts';

/** Whether a file may be run; `why` is the predicate of a sentence. */
export type VettingResult =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly why: string; readonly sha256: string | null };

/** Looks at the file of a plug-in: who could have written it, and whether it is what its skill put in place. Never rejects. */
export async function vetPlugin({ kind, path }: PluginSource, locked: LockedFiles): Promise<VettingResult> {
  try {
    const why = await findTrustProblem(path);
    if (why !== null) return { ok: false, why, sha256: null };
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    // Skills bring files, and no packages.
    const changed = kind === 'file' ? findLockMismatch(locked, path, sha256) : null;
    return changed === null ? { ok: true, sha256 } : { ok: false, why: changed, sha256 };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { ok: false, why: `could not be read (${code})`, sha256: null };
  }
}
