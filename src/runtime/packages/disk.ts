import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { FILE_BYTES_MAX } from '../config/read-text.ts';
import { SkillFailure } from './failure.ts';
import { hashSha256 } from './package.ts';
import { readRegularFile } from './read-file.ts';

/** The state of a path: nothing, a file with its hash, or something that is not a regular file. */
export type PathState = 'nothing' | 'other' | { readonly sha256: string };

/** Reads the state of a path below a folder. A link is `other`, regardless of its target. */
export async function readPathState(baseDir: string, path: string): Promise<PathState> {
  const target = join(baseDir, path);
  const there = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    if (error.code === 'ENOTDIR') return 'other' as const;
    throw error;
  });
  if (there === null) return 'nothing';
  if (there === 'other' || !there.isFile()) return 'other';
  const bytes = await readRegularFile(target, FILE_BYTES_MAX);
  return bytes === null ? 'other' : { sha256: hashSha256(bytes) };
}

/**
 * Checks that no parent folder of a path is a link out of `baseDir`, because files would be written elsewhere.
 * @throws SkillFailure `conflict`
 */
export async function assertInside(baseDir: string, path: string): Promise<void> {
  const root = await realpath(baseDir);
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const real = await realpath(join(baseDir, folder)).catch(() => null);
    if (real !== null && real !== root && !real.startsWith(`${root}${sep}`))
      throw new SkillFailure(
        'conflict',
        `\`${folder}\` leads out of the folder of the configuration. Nothing is written through it.`,
      );
  }
}
