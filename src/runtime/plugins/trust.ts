import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const WORLD_WRITABLE = 0o002;
const STICKY = 0o1000;

/**
 * Returns why a file must not run as code of this user: another user could have written it. The file and each
 * folder above it must belong to this user or root. No folder can let every user replace its content.
 * @param path - without links in it
 * @returns the predicate of a sentence, or `null` if the file can run
 */
export async function findTrustProblem(path: string): Promise<string | null> {
  // A system without user ids has no file modes either.
  const user = process.getuid?.();
  if (user === undefined) return null;
  const file = await stat(path);
  if (!file.isFile()) return 'is no regular file';
  if (file.uid !== user && file.uid !== 0)
    return 'belongs to another user than the one who runs the service; take it over with `chown`';
  if (file.mode & WORLD_WRITABLE)
    return 'can be written by everyone; remove that permission with `chmod o-w`';
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { uid, mode } = await stat(folder);
    const isOpen = (mode & WORLD_WRITABLE) !== 0 && (mode & STICKY) === 0;
    if (isOpen || (uid !== user && uid !== 0))
      return 'lies in a folder that another user can write to; move it, or remove that permission';
    if (folder === dirname(folder)) return null;
  }
}
