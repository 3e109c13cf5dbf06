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

/** The most folders of a path that are looked up as links. */
const LINKS_MAX = 8;

/** Returns a path with the links that the script made resolved, if the path continues behind them. */
export function followLinks(command: Command, path: string): string {
  const { files } = command;
  if (files === null) return path;
  let at = path.indexOf('/', 1);
  for (let looked = 0; at > 0 && looked < LINKS_MAX; looked++) {
    const link = files.get(getFileKey(path.slice(0, at), null))?.link;
    if (link !== undefined) return `${link.replace(/\/$/, '')}${path.slice(at)}`;
    at = path.indexOf('/', at + 1);
  }
  return path;
}
