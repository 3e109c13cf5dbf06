import type { FetchLike } from '@modelcontextprotocol/client';
import type { Agent, RequestInit } from 'undici';
import { buildGuardedLookup, hasMetadataOrLinkLocalHost } from '../../platform/net/guarded-lookup.ts';
import { attachResponseSources } from './exact-transports.ts';
import { ServerFailure } from './server-failure.ts';

/** A `fetch` with limits, and its connections. */
export interface GuardedFetch {
  readonly fetch: FetchLike;
  /** Aborts running requests. */
  readonly close: () => Promise<void>;
}

/** The limits of a guarded `fetch`. */
export interface FetchLimits {
  readonly connect_ms: number;
  /** The maximum bytes of one decoded message. */
  readonly response_bytes_max: number;
  /** Called if a message is longer. */
  readonly exceeded: () => void;
}

/**
 * Opens a `fetch` for one configured server. It calls the server's origin only, follows no redirects, refuses cloud
 * metadata addresses and limits each message. The HTTP library is loaded on the first call.
 * @param address - the URL of the server's endpoint
 */
export function openGuardedFetch(address: string, limits: FetchLimits): GuardedFetch {
  const { origin } = new URL(address);
  let agent: Agent | null = null;
  return {
    fetch: async (url, init) => {
      if (new URL(url).origin !== origin) throw new ServerFailure('other_address');
      if (hasMetadataOrLinkLocalHost(address)) throw new ServerFailure('metadata');
      const library = await import('undici');
      agent ??= new library.Agent({
        allowH2: false,
        // The caller has its own timeout, and a stream of changes may be idle indefinitely.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: {
          timeout: limits.connect_ms,
          lookup: buildGuardedLookup(() => new ServerFailure('metadata')),
        },
      });
      // Node's types and the library's differ in members that are the same at run time.
      const options = { ...(init as unknown as RequestInit), redirect: 'manual', dispatcher: agent } as const;
      const response = await library.fetch(url, options);
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        throw new ServerFailure('redirected');
      }
      return attachResponseSources(limitBody(response, limits), limits.response_bytes_max);
    },
    close: async () => agent?.destroy(),
  };
}

const NO_BODY = [204, 205, 304];

/** Returns the same response with a body that fails if a message is too long. */
function limitBody(response: Response, { response_bytes_max, exceeded }: FetchLimits): Response {
  if (response.body === null || NO_BODY.includes(response.status)) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const count = isStream ? countEventBytes() : countAllBytes();
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      if (count(chunk) <= response_bytes_max) return controller.enqueue(chunk);
      controller.error(new ServerFailure('too_long', response_bytes_max));
      exceeded();
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), {
    status,
    statusText,
    headers: [...headers].filter(([name]) => !/^content-(?:encoding|length)$/.test(name)),
  });
}

function countAllBytes(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return ({ length }) => {
    bytes += length;
    return bytes;
  };
}

const LF = 10;
const CR = 13;

/** Counts the bytes of the longest event so far. An empty line ends an event. */
function countEventBytes(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let lineBytes = 0;
  let before = 0;
  return (chunk) => {
    let longest = 0;
    for (const byte of chunk) {
      bytes += 1;
      const isSecondHalf = byte === LF && before === CR;
      before = byte;
      if (isSecondHalf) continue;
      if (byte !== LF && byte !== CR) {
        lineBytes += 1;
        continue;
      }
      longest = Math.max(longest, bytes);
      if (lineBytes === 0) bytes = 0;
      lineBytes = 0;
    }
    return Math.max(longest, bytes);
  };
}
