import type { TrailPage } from '../runtime/audit/events/trail.ts';

/** What crosses the socket: one JSON value in each line, each answer with the number of its question. */
export type SocketQuestion =
  | { readonly id: number; readonly ask: 'status' }
  | { readonly id: number; readonly ask: 'sync_index' }
  /** A service wants the folder: a resident process leaves it. */
  | { readonly id: number; readonly ask: 'leave' }
  | {
      readonly id: number;
      /** What a hook asks, or, by its name, a way of asking that a plug-in brings. */
      readonly ask: 'hook' | 'dialect';
      readonly input: unknown;
      readonly user: string;
      /** Of which program the hook is; a build of a checkout says more behind a `+`. */
      readonly version: string;
      /** For which configuration it asks, its links followed; `null` for none. */
      readonly config_file: string | null;
    }
  /** What comes into the audit trail, until the connection ends. */
  | {
      readonly id: number;
      readonly ask: 'follow';
      readonly input: unknown;
      readonly user: string;
      readonly as?: SocketCaller;
    }
  | {
      readonly id: number;
      readonly ask: 'call';
      readonly operation: string;
      readonly input: unknown;
      readonly user: string;
      /** Who asks in place of the person at the command line, with no more rights than that one has. */
      readonly as?: SocketCaller;
    };

/** The bearer of the operator token, or an agent behind an MCP server of this machine. */
export type SocketCaller = 'operator' | 'mcp';

export type SocketAnswer =
  | { readonly id: number; readonly value: unknown }
  /** One of many answers to `follow`. */
  | { readonly id: number; readonly page: TrailPage }
  | { readonly id: number; readonly refusal: SocketRefusal };

export interface SocketRefusal {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

/** The longest line: a file that is scanned, or a page of events. */
export const SOCKET_LINE_BYTES_MAX = 67_108_864;

/**
 * Cuts a stream of bytes into lines: a function that takes the next chunk and gives the lines that are whole
 * now, or `null` when one is longer than `bytes_max`.
 */
export function openLineReader(bytes_max: number): (chunk: Buffer) => string[] | null {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      lines.push(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      bytes = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    pieces.push(rest);
    bytes += rest.length;
    return bytes > bytes_max ? null : lines;
  };
}
