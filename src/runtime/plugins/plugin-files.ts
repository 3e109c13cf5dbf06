import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { openOwnFile } from '../../platform/files/own-file.ts';

/** A plug-in file and its SHA-256. */
export interface PluginFile {
  /** Absolute, without links in it. */
  readonly path: string;
  readonly sha256: string;
}

const FILES_MAX = 1_000;
const FILE_BYTES_MAX = 8_388_608;

/**
 * Hashes a plug-in file and the files that it imports by relative paths, directly or through each other. Never
 * runs one. Installed packages and computed paths are not followed.
 *
 * @throws Error if a file cannot be read, or there are too many
 */
export async function hashPluginFiles(entry: string): Promise<readonly PluginFile[]> {
  const found = new Set([entry]);
  const files: PluginFile[] = [];
  // The set grows while the loop reads it.
  for (const path of found) {
    if (files.length === FILES_MAX) throw new Error(`it imports more than ${FILES_MAX} files`);
    const bytes = await readBytes(path);
    files.push({ path, sha256: createHash('sha256').update(bytes).digest('hex') });
    if (CODE.has(extname(path)))
      for (const imported of await findImports(bytes.toString('utf8'), path)) found.add(imported);
  }
  return files;
}

async function readBytes(path: string): Promise<Buffer> {
  const file = await openOwnFile(path);
  try {
    if ((await file.stat()).size > FILE_BYTES_MAX)
      throw new Error(`\`${path}\` has more than ${FILE_BYTES_MAX} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

const CODE = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']);

/** A text in quotes that begins as a relative path. Comments and data match too, which only adds files. */
const RELATIVE = /(["'`])(\.{1,2}\/[^"'`\n\\]{0,1024})\1/g;

/** The endings that `require` adds to a name without one. */
const ENDINGS = ['', ...CODE, '.json', '.node', '/index.js', '/index.cjs', '/index.json'];

async function findImports(code: string, from: string): Promise<readonly string[]> {
  const names = new Set([...code.matchAll(RELATIVE)].map(([, , name]) => name!.replace(/[?#].*$/, '')));
  if (names.size > FILES_MAX) throw new Error(`it names more than ${FILES_MAX} paths`);
  const imports: string[] = [];
  for (const name of names) {
    for (const ending of ENDINGS) {
      const path = await realpath(resolve(dirname(from), name + ending)).catch(() => null);
      if (path !== null && (await stat(path)).isFile()) imports.push(path);
    }
  }
  return imports;
}
