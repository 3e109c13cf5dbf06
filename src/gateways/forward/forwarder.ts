import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { rejectRedirect } from '../upstream/attempt.ts';
import { HEADER_BYTES_MAX, openUpstreamConnections } from '../upstream/connections.ts';
import { decodeAnswer } from '../upstream/decode.ts';
import { exchangeHttp, type UpstreamHttpAnswer } from '../upstream/exchange.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import { buildRequestHeaders, PASSIVE_HEADERS } from '../upstream/headers.ts';
import { joinPaths } from '../upstream/paths.ts';
import { systemPorts } from '../upstream/ports.ts';
import { buildNotPublicFailure, canBePublicHost, openPublicLookup } from '../upstream/public-address.ts';
import { findTargetProvider, type ProxySettings } from '../upstream/settings.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Forwards single calls. Loaded on the first one. */
    readonly forward: () => Promise<Forwarder>;
  }
}

/** The destination as the caller names it. */
export interface ForwardAddress {
  /** An address of the caller; `null` uses `proxy.target`. */
  readonly upstream_url: string | null;
  /** Path and query at `proxy.target`; ignored if `upstream_url` is set. */
  readonly path: string | null;
}

/** The resolved destination. */
export interface ForwardDestination {
  readonly url: URL;
  /** True for an address of the configuration, which may be private. */
  readonly is_configured: boolean;
}

/** A request to forward, without its destination. */
export interface ForwardRequest {
  readonly method: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  /** The timeout for the whole call; `null` uses `proxy.timeout_seconds`. */
  readonly timeout_ms: number | null;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** The response to a forwarded request. */
export interface ForwardResponse {
  readonly status: number;
  /** The headers that are safe to show, by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as UTF-8; invalid bytes become U+FFFD. */
  readonly text: string;
}

/**
 * Forwards single calls to `proxy.target` or to a public address. It never retries, because the effect of a call is
 * unknown.
 */
export interface Forwarder {
  /** @throws UpstreamFailure `not_configured` or `invalid_request` */
  readonly resolveDestination: (address: ForwardAddress) => ForwardDestination;
  /** Rejects with an `UpstreamFailure`. */
  readonly send: (place: ForwardDestination, call: ForwardRequest) => Promise<ForwardResponse>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a forwarder. It connects on the first call.
 * @param lookup resolves the host names of callers
 */
export function openForwarder(
  settings: ProxySettings,
  lookup: LookupFunction = openPublicLookup(),
): Forwarder {
  const { connect_ms } = settings.timeouts;
  const configured = openUpstreamConnections({ connect_ms, connections_max: settings.connections_max });
  const target = findTargetProvider(settings);
  return {
    resolveDestination: ({ upstream_url, path }) => {
      if (upstream_url !== null) return { url: parseCallerAddress(upstream_url), is_configured: false };
      if (target === null) throw buildNoTargetFailure();
      const { origin } = target.base;
      const { pathname, search } = parseUrl(`${origin}${path ?? '/'}`);
      return {
        url: parseUrl(`${origin}${joinPaths(target.base, `${pathname}${search}`)}`),
        is_configured: true,
      };
    },
    send: async (place, call) => {
      const { origin } = place.url;
      if (place.is_configured) return forwardRequest(await configured.to(origin), place.url, call, settings);
      const { Client } = await import('undici');
      // One connection for this call only, to the checked address.
      const client = new Client(origin, {
        allowH2: false,
        maxHeaderSize: HEADER_BYTES_MAX,
        connect: { timeout: connect_ms, lookup },
      });
      return forwardRequest(client, place.url, call, settings).finally(() => client.destroy());
    },
    close: configured.close,
  };
}

/** Parses an address of a caller, and checks what is possible without a DNS lookup. */
function parseCallerAddress(written: string): URL {
  const url = parseUrl(written);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw buildInvalidAddressFailure('`upstream_url` must begin with `http://` or `https://`.');
  if (url.username !== '' || url.password !== '')
    throw buildInvalidAddressFailure(
      '`upstream_url` has a user or a password; a credential goes into `headers`.',
    );
  if (!canBePublicHost(url.hostname)) throw buildNotPublicFailure();
  return url;
}

function parseUrl(address: string): URL {
  if (!URL.canParse(address)) throw buildInvalidAddressFailure('The address is not valid.');
  return new URL(address);
}

function buildInvalidAddressFailure(message: string): UpstreamFailure {
  return new UpstreamFailure('invalid_request', message);
}

function buildNoTargetFailure(): UpstreamFailure {
  return new UpstreamFailure(
    'not_configured',
    'There is nowhere to forward to: send `upstream_url`, or set `proxy.target` in service.yaml (or SERVICE_UPSTREAM_BASE_URL).',
  );
}

async function forwardRequest(
  dispatcher: Dispatcher,
  url: URL,
  { method, headers, body, timeout_ms, signal }: ForwardRequest,
  { timeout_seconds, response_bytes_max }: ProxySettings,
): Promise<ForwardResponse> {
  const { now_ms, alarm } = systemPorts;
  const limitMs = timeout_ms ?? timeout_seconds * 1_000;
  const endsMs = now_ms() + limitMs;
  const outgoing = {
    method,
    path: `${url.pathname}${url.search}`,
    headers: buildRequestHeaders(headers, NO_PROVIDER, null),
    body,
  };
  const patience = { first_byte_ms: limitMs, idle_ms: limitMs };
  const incoming = decodeAnswer(
    rejectRedirect(await exchangeHttp(dispatcher, outgoing, patience, signal, alarm)),
  );
  const quiet = alarm(Math.max(1, endsMs - now_ms()), () => incoming.cut(buildTimeoutFailure()));
  try {
    const text = await readText(incoming, response_bytes_max);
    return { status: incoming.status, headers: filterShownHeaders(incoming.headers), text };
  } finally {
    quiet();
  }
}

/** The caller defines the whole request, so no headers or keys are added. */
const NO_PROVIDER = { headers: [], key_header: null, client_key: 'pass', family: null } as const;

async function readText(incoming: UpstreamHttpAnswer, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of incoming.body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw buildTooLargeFailure(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const VALUE_CHARACTERS_MAX = 256;

function filterShownHeaders(headers: readonly string[]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    const value = headers[at + 1]!;
    if (PASSIVE_HEADERS.test(name) && /^[\x20-\x7e]*$/.test(value))
      shown[name] ??= value.slice(0, VALUE_CHARACTERS_MAX);
  }
  return shown;
}

function buildTimeoutFailure(): UpstreamFailure {
  return new UpstreamFailure('upstream_timeout', 'The upstream’s answer was not whole in time.');
}

function buildTooLargeFailure(bytesMax: number): UpstreamFailure {
  const message = `The upstream’s answer is larger than \`proxy.response_bytes_max\` (${bytesMax} bytes).`;
  return new UpstreamFailure('answer_too_large', message);
}
