import { closeSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns the socket of a state folder on which content arrives. */
export function getContentSocket(stateDir: string): string {
  return join(stateDir, 'content.sock');
}

/**
 * The longest socket path that every kernel accepts. With the final NUL, the limit is 108 bytes on Linux and
 * 104 elsewhere.
 */
const PATH_BYTES_MAX = 103;

/** A path that the kernel accepts for a socket, until `close` is called. */
export interface SocketPath {
  readonly path: string;
  readonly close: () => void;
}

/**
 * Returns the path itself. If it is too long and the system is Linux, returns a path through a descriptor of
 * the folder that contains it.
 */
export function openSocketPath(path: string): SocketPath {
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX || process.platform !== 'linux')
    return { path, close: () => {} };
  const folder = openSync(dirname(path), 'r');
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, close: () => closeSync(folder) };
}
