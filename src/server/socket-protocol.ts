import type { FollowedPage } from '../runtime/audit/events/follow-index.ts';

/** A question on the socket. Each line is one JSON value, and each answer has the `id` of its question. */
export type SocketRequest =
  | { readonly id: number; readonly method: 'status' }
  | { readonly id: number; readonly method: 'sync_index' }
  /** Asks for the state folder on behalf of a service. A daemon gives it up. */
  | { readonly id: number; readonly method: 'leave' }
  | {
      readonly id: number;
      /**
       * `hook` sends the payload of a hook. `dialect` asks for the dialect with a name, which a plug-in
       * defines.
       */
      readonly method: 'hook' | 'dialect';
      readonly input: unknown;
      readonly user: string;
      /** The program version of the hook. A build of a checkout has a `+` suffix. */
      readonly version: string;
      /** The configuration file that the hook uses, with links resolved. `null` for none. */
      readonly config_file: string | null;
    }
  /** Follows the audit log until the connection closes. */
  | {
      readonly id: number;
      readonly method: 'follow';
      readonly input: unknown;
      readonly user: string;
      readonly as?: SocketCaller;
    }
  | {
      readonly id: number;
      readonly method: 'call';
      readonly operation: string;
      readonly input: unknown;
      readonly user: string;
      /**
       * The caller on whose behalf the command line asks. It never has more rights than the user of the socket.
       */
      readonly as?: SocketCaller;
    };

/** The bearer of the operator token, or an agent behind an MCP server of this machine. */
export type SocketCaller = 'operator' | 'mcp';

export type SocketReply =
  | { readonly id: number; readonly value: unknown }
  /** One of many answers to `follow`. */
  | { readonly id: number; readonly page: FollowedPage }
  | { readonly id: number; readonly refusal: SocketRefusal };

export interface SocketRefusal {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

/** The longest line in bytes. It must hold a scanned file or a page of events. */
export const SOCKET_LINE_BYTES_MAX = 67_108_864;

/** The nesting depth at which a line holds the content of a check or its redacted version. */
export const SOCKET_CONTENT_LEVELS = 4;

/**
 * Returns a function that splits a byte stream into lines. It takes the next chunk and returns the complete
 * lines, or `null` if a line is longer than `bytes_max`.
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
