import { createHash } from 'node:crypto';
import { buildConfigProblem } from '../config/problem-text.ts';
import { FILE_BYTES_MAX } from '../config/read-text.ts';
import { SkillFailure } from './failure.ts';
import { MANIFEST, type Manifest, type ManifestFile, readManifest } from './manifest.ts';

/** The files of a package, regardless of its source. */
export interface Archive {
  /** The source as the lock file names it: `bundled`, `folder:../mine`, `npm:name@1.0.0`. */
  readonly source: string;
  /** SHA-512 of the archive in npm's format; `null` if there was no archive. */
  readonly integrity: string | null;
  /** Reads a regular file of the package, or returns `null` if there is none with that name. */
  readonly read: (path: string) => Promise<Uint8Array | null>;
}

/** A file of a package, with its content. */
export interface SkillFile extends ManifestFile {
  readonly text: string;
  /** The hash of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** A package with the content of all its files. */
export interface Skill extends Omit<Manifest, 'files'> {
  readonly source: string;
  readonly integrity: string | null;
  readonly files: readonly SkillFile[];
}

/** The limit of all files of one skill together, in bytes. */
const SKILL_BYTES_MAX = 8_388_608;

/**
 * Reads the manifest of a package and the files that it lists.
 * @throws SkillFailure `skill_invalid`, with every problem
 */
export async function readSkill(archive: Archive): Promise<Skill> {
  const written = await archive.read(MANIFEST);
  if (written === null)
    throw new SkillFailure('skill_invalid', `There is no \`${MANIFEST}\` in it, so it is no skill.`);
  const text = getText(written);
  if (text === null) throw new SkillFailure('skill_invalid', `Its \`${MANIFEST}\` is not UTF-8 text.`);
  const manifest = await readManifest(text, MANIFEST);
  const files: SkillFile[] = [];
  const problems = [];
  let bytesRead = 0;
  for (const file of manifest.files) {
    const bytes = await archive.read(file.path);
    const content = bytes === null ? null : getText(bytes);
    bytesRead += bytes?.length ?? 0;
    if (bytes === null)
      problems.push(buildConfigProblem(file.path, [], 'is listed in the manifest and is not there'));
    else if (bytes.length > FILE_BYTES_MAX)
      problems.push(buildConfigProblem(file.path, [], `is larger than ${FILE_BYTES_MAX} bytes`));
    else if (content === null) problems.push(buildConfigProblem(file.path, [], 'is not UTF-8 text'));
    else files.push({ ...file, text: content, sha256: hashSha256(bytes) });
    if (bytesRead > SKILL_BYTES_MAX) {
      problems.push(buildConfigProblem(file.path, [], `brings the skill over ${SKILL_BYTES_MAX} bytes`));
      break;
    }
  }
  if (problems.length > 0)
    throw new SkillFailure('skill_invalid', 'The package is not a valid skill:', problems);
  return { ...manifest, source: archive.source, integrity: archive.integrity, files };
}

function getText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Returns the SHA-256 in hexadecimal. */
export function hashSha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
