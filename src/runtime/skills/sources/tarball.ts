import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { SkillFailure } from '../../packages/failure.ts';
import { MANIFEST } from '../../packages/manifest.ts';
import type { Archive } from '../../packages/package.ts';
import { readRegularFile } from '../../packages/read-file.ts';

/** The limit of the downloaded archive, in bytes. */
const TARBALL_BYTES_MAX = 16_777_216;
/** The limit of the unpacked archive, in bytes. Unpacking stops there. */
const UNPACKED_BYTES_MAX = 33_554_432;
const ENTRIES_MAX = 2_000;
const PATH_UNITS_MAX = 400;

/** The first bytes of an archive that is compressed a second time. */
const COMPRESSED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/**
 * Reads a `.tgz` package into memory, and writes nothing. Refuses the whole archive if an entry is not a file
 * or a folder, or if a name could lead out of the folder or name two files.
 * @throws SkillFailure `not_found`, `skill_invalid`
 */
export async function openTarball(path: string, source: string): Promise<Archive> {
  const real = await realpath(path).catch(() => path);
  const packed = await readRegularFile(real, TARBALL_BYTES_MAX);
  if (packed === null) throw new SkillFailure('not_found', `There is no file \`${path}\`.`);
  if (packed.length > TARBALL_BYTES_MAX)
    throw buildRefusedFailure(`it has more than ${TARBALL_BYTES_MAX} bytes`);
  const files = await getFiles(await unpackArchive(packed));
  const root = getRoot(files);
  return {
    source,
    integrity: computeIntegrity(packed),
    read: async (name) => files.get(`${root}${name}`) ?? null,
  };
}

/** Returns the SHA-512 in npm's format. */
export function computeIntegrity(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

function buildRefusedFailure(why: string): SkillFailure {
  return new SkillFailure('skill_invalid', `The archive is refused: ${why}.`);
}

async function unpackArchive(packed: Uint8Array): Promise<Buffer> {
  try {
    const tar = await promisify(gunzip)(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
    if (COMPRESSED.some((magic) => tar.subarray(0, magic.length).equals(magic)))
      throw buildRefusedFailure('it is compressed twice');
    return tar;
  } catch (error) {
    if (error instanceof SkillFailure) throw error;
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw buildRefusedFailure(
      tooLarge ? `unpacked it has more than ${UNPACKED_BYTES_MAX} bytes` : 'it is no gzip archive',
    );
  }
}

/** Returns every file by its name. Uses npm's own library, so that an archive is read as npm reads it. */
async function getFiles(tar: Buffer): Promise<Map<string, Buffer>> {
  const { Parser } = await import('tar');
  const files = new Map<string, Buffer>();
  const names = new Map<string, string>();
  let entries = 0;
  await new Promise<void>((resolve, reject) => {
    const stop = (why: string) => reject(buildRefusedFailure(why));
    const parser = new Parser({
      strict: true,
      onReadEntry: (entry) => {
        entries += 1;
        const name = entry.path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
        const why =
          entries > ENTRIES_MAX
            ? `it has more than ${ENTRIES_MAX} entries`
            : findEntryProblem(name, entry.type, names);
        if (why !== null) {
          stop(why);
          entry.resume();
          return;
        }
        const chunks: Buffer[] = [];
        entry.on('data', (chunk: Buffer) => chunks.push(chunk));
        entry.on('end', () => entry.type !== 'Directory' && files.set(name, Buffer.concat(chunks)));
      },
    });
    parser.on('ignoredEntry', () => stop('it has an entry that is no file and no folder'));
    parser.on('error', () => stop('it is damaged, or no tar archive'));
    parser.on('end', () => resolve());
    parser.end(tar);
  });
  return files;
}

const PLAIN_TYPES = ['File', 'OldFile', 'Directory'];

/** Returns why an entry is refused, or `null`. Adds its name to the taken names. */
function findEntryProblem(name: string, type: string, names: Map<string, string>): string | null {
  if (!PLAIN_TYPES.includes(type)) return `an entry of it is a ${type}; only files and folders are taken`;
  if (name === '' || name === '.') return type === 'Directory' ? null : 'an entry of it has no name';
  if (name.length > PATH_UNITS_MAX)
    return `an entry of it has a name of more than ${PATH_UNITS_MAX} characters`;
  if (/[\u0000-\u001f\u007f-\u009f\\]|^\/|^[A-Za-z]:/.test(name) || name.split('/').includes('..'))
    return 'an entry of it has a name that leads out of its folder, or that no file should have';
  // Some file systems treat these names as the same: other case, or another Unicode form of the same letters.
  const key = name.normalize('NFKC').toLowerCase();
  const taken = names.get(key);
  if (taken !== undefined && !(type === 'Directory' && taken === `${name}/`))
    return 'two entries of it have one name, or names that some file systems take for one';
  names.set(key, type === 'Directory' ? `${name}/` : name);
  return null;
}

/**
 * Returns the folder in the archive that contains the manifest, with a trailing slash. npm names it `package`.
 */
function getRoot(files: ReadonlyMap<string, Buffer>): string {
  if (files.has(MANIFEST)) return '';
  const roots = [...files.keys()].filter(
    (name) => name.split('/').length === 2 && name.endsWith(`/${MANIFEST}`),
  );
  if (roots.length > 1) throw buildRefusedFailure(`it has more than one \`${MANIFEST}\``);
  return roots[0]?.slice(0, -MANIFEST.length) ?? '';
}
