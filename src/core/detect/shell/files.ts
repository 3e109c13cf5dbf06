import type { Command, KnownFile } from './syntax.ts';

/** Returns one key for all spellings of a path. */
export function getFileKey(path: string, folder: string | null): string {
  const plain = path.replace(/\/(?:\.\/)+|\/{2,}/g, '/').replace(/^(?:\.\/)+/, '');
  if (folder === null || /^[/~$]/.test(plain)) return plain;
  return `${folder === '/' ? '' : folder}/${plain}`;
}

/** Returns the file with this path, if the script wrote it. */
export function findKnownFile({ files, folder }: Command, path: string): KnownFile | null {
  return files?.get(getFileKey(path, folder)) ?? null;
}
