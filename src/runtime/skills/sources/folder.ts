import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_BYTES_MAX } from '../../config/read-text.ts';
import { SkillFailure } from '../../packages/failure.ts';
import type { Archive } from '../../packages/package.ts';
import { readRegularFile } from '../../packages/read-file.ts';

/**
 * Opens a folder as a package. Only requested files are read, and no link is followed, because a link in a
 * checkout can lead to any file that its user can read.
 * @throws SkillFailure `not_found` if the folder does not exist
 */
export async function openFolder(path: string, source: string): Promise<Archive> {
  const there = await stat(path).catch(() => null);
  if (there === null || !there.isDirectory())
    throw new SkillFailure('not_found', `There is no folder \`${path}\`.`);
  const root = await realpath(path);
  const read: Archive['read'] = async (name) => {
    const wanted = join(root, name);
    const real = await realpath(wanted).catch(() => null);
    return real === wanted ? readRegularFile(wanted, FILE_BYTES_MAX) : null;
  };
  return { source, integrity: null, read };
}
