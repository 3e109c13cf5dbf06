import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import { isMetadataName } from '../../core/detect/facts/metadata-addresses.ts';
import { createLazyValue } from '../lazy.ts';
import { buildGuardedLookup, hasMetadataOrLinkLocalHost } from './guarded-lookup.ts';

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

export interface HttpClientOptions {
  /** Holds `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in capitals or small letters. */
  readonly env: Environment;
  /** Allows link-local and metadata addresses. Default: `false`. */
  readonly allow_link_local?: boolean;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the call, the body of the response included. */
  readonly signal: AbortSignal;
  /** The maximum bytes of the response's body. With 0, the body is not read. */
  readonly response_bytes_max: number;
}

export interface HttpReply {
  readonly status: number;
  /** The value of the header `Retry-After`, unchecked. */
  readonly retry_after: string | null;
  readonly body: Buffer;
}

/** An HTTP client for addresses that operators configure. Loads the HTTP library with the first call. */
export interface HttpClient {
  /**
   * Makes one request on a connection of its own. Follows no redirects, and refuses metadata and link-local addresses.
   *
   * @throws HttpFailure
   */
  readonly call: (call: HttpCall) => Promise<HttpReply>;
  /** Aborts running calls. */
  readonly close: () => Promise<void>;
}

/** A call without a usable response. Its message never contains the address, which may contain a credential. */
export class HttpFailure extends Error {
  readonly kind: 'link_local' | 'timeout' | 'certificate' | 'too_long' | 'unreachable';
  /** The code of the system or of the TLS library, such as `ECONNREFUSED`. */
  readonly code: string | null;
  constructor(kind: HttpFailure['kind'], code: string | null = null) {
    super(`the call failed: ${kind}${code === null ? '' : ` (${code})`}`);
    this.name = 'HttpFailure';
    this.kind = kind;
    this.code = code;
  }
}

/** The maximum milliseconds until a connection is established. A shorter deadline of the caller ends it earlier. */
const CONNECT_MS_MAX = 30_000;

/** Opens a client that uses the proxy of the environment, if there is one for the address. */
export function openHttpClient({ env, allow_link_local = false }: HttpClientOptions): HttpClient {
  const agent = createLazyValue(async (): Promise<EnvHttpProxyAgent> => {
    const library = await import('undici');
    return new library.EnvHttpProxyAgent({
      httpProxy: readVariable(env, 'http_proxy'),
      httpsProxy: readVariable(env, 'https_proxy'),
      noProxy: readVariable(env, 'no_proxy'),
      allowH2: false,
      // No connection is kept: a kept one may be closed by the receiver at the moment of the next call.
      pipelining: 0,
      // The signal of each call is its only deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: CONNECT_MS_MAX,
        ...(!allow_link_local && { lookup: buildGuardedLookup(() => new HttpFailure('link_local')) }),
      },
    });
  });
  return {
    call: async (call) => {
      if (!allow_link_local && isRefusedHost(call.url)) throw new HttpFailure('link_local');
      try {
        const dispatcher = await agent.open();
        const { method, headers, body = null, signal } = call;
        const response = await dispatcher.request({ ...splitUrl(call.url), method, headers, body, signal });
        return await readReply(response, call.response_bytes_max);
      } catch (fault) {
        throw describeHttpFailure(fault, call.signal);
      }
    },
    close: () => agent.ifOpened((opened) => opened.destroy()),
  };
}

/**
 * Returns whether a URL names a link-local or metadata address. A proxy sees only the name, so that names of metadata
 * services are refused too.
 */
export function isRefusedHost(url: string): boolean {
  const { hostname } = new URL(url);
  return hasMetadataOrLinkLocalHost(url) || isMetadataName(hostname.toLowerCase().replace(/\.$/, ''));
}

function splitUrl(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
}

/** Returns an empty text for an unset variable, because the library reads the process environment otherwise. */
function readVariable(env: Environment, name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? '';
}

async function readReply(response: Dispatcher.ResponseData, bytesMax: number): Promise<HttpReply> {
  const { statusCode: status, headers, body } = response;
  const [retryAfter = null] = [headers['retry-after']].flat();
  // The error that destroying the body causes has no reader otherwise.
  body.on('error', () => {});
  if (bytesMax === 0) {
    body.destroy();
    return { status, retry_after: retryAfter, body: Buffer.alloc(0) };
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new HttpFailure('too_long');
    chunks.push(chunk);
  }
  return { status, retry_after: retryAfter, body: Buffer.concat(chunks) };
}

function describeHttpFailure(fault: unknown, signal: AbortSignal): HttpFailure {
  const causes = listCauses(fault);
  const own = causes.find((each) => each instanceof HttpFailure);
  if (own !== undefined) return own;
  if (signal.aborted) return new HttpFailure('timeout');
  const codes = causes.map(({ code }) => code).filter((code) => typeof code === 'string');
  const certificate = codes.find((code) => CERTIFICATE.test(code));
  if (certificate !== undefined) return new HttpFailure('certificate', certificate);
  const isLate = codes.some((code) => /TIMEOUT|ETIMEDOUT/.test(code));
  return isLate ? new HttpFailure('timeout') : new HttpFailure('unreachable', codes.at(-1) ?? null);
}

const CERTIFICATE = /CERT|SIGNATURE|ERR_TLS|ERR_SSL|EPROTO/;

/** Returns an error, its causes and the errors of each address that was tried. */
function listCauses(fault: unknown): readonly (Error & { readonly code?: unknown })[] {
  const found: Error[] = [];
  const visit = (error: unknown, depth: number): void => {
    if (!(error instanceof Error) || depth > 4) return;
    found.push(error);
    visit(error.cause, depth + 1);
    if (error instanceof AggregateError) for (const each of error.errors) visit(each, depth + 1);
  };
  visit(fault, 0);
  return found;
}
