import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** What the kernel takes as the path of a socket, its end included: 108 bytes on Linux, 104 elsewhere. */
const PATH_BYTES_MAX = 103;

/** A path that the kernel takes for a socket, as long as it is not closed. */
export interface SocketPath {
  readonly path: string;
  readonly close: () => void;
}

/** Gives the path itself, or, where it is too long, one that leads through the open folder in which it lies. */
export function openSocketPath(path: string): SocketPath {
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX || process.platform !== 'linux')
    return { path, close: () => {} };
  const folder = openSync(dirname(path), 'r');
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, close: () => closeSync(folder) };
}
