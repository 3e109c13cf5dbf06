import type { Command, KnownFile } from './syntax.ts';

/** A file under the name that all ways of writing its path come to. */
export function fileKey(path: string, folder: string | null): string {
  const plain = path.replace(/\/(?:\.\/)+|\/{2,}/g, '/').replace(/^(?:\.\/)+/, '');
  if (folder === null || /^[/~$]/.test(plain)) return plain;
  return `${folder === '/' ? '' : folder}/${plain}`;
}

/** The file with such a path, where the script wrote it. */
export function knownFile({ files, folder }: Command, path: string): KnownFile | null {
  return files?.get(fileKey(path, folder)) ?? null;
}
