import type { ProviderKey, UpstreamProvider } from './settings.ts';

/** Headers of one connection and not of what is asked for (RFC 9110, 7.6.1), beside those that `connection` names. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What does not reach a provider: settled anew, about this side's network, or meant for this service. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'accept-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'via',
  'x-real-ip',
]);

/** What of an answer is not passed on: its length and encoding may change, its cookies are for another host. */
const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  'alt-svc',
  'content-length',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);

/** Where clients and providers put keys. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'api-key',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
]);

/**
 * Headers for one try: those of the client, with the key and the headers of the provider in the place of its own.
 * @param given names and values by turns
 */
export function buildRequestHeaders(
  given: readonly string[],
  provider: Pick<UpstreamProvider, 'family' | 'headers' | 'key_header' | 'client_key'>,
  key: ProviderKey | null,
): string[] {
  const drops_keys = key !== null || provider.client_key === 'drop';
  const own = new Set(provider.headers.map(([name]) => name));
  if (provider.key_header !== null) own.add(provider.key_header);
  const named = listConnectionHeaders(given);
  const headers: string[] = [];
  for (let at = 0; at + 1 < given.length; at += 2) {
    const name = given[at]!.toLowerCase();
    if (isServiceHeader(name, given[at + 1]!) || NOT_FORWARDED.has(name) || own.has(name) || named.has(name))
      continue;
    if (drops_keys && CREDENTIAL_HEADERS.has(name)) continue;
    headers.push(given[at]!, given[at + 1]!);
  }
  // A guard has to read the answer; most of what a stream says is too short to gain from an encoding.
  headers.push('accept-encoding', 'identity');
  for (const [name, value] of provider.headers) headers.push(name, value);
  if (key !== null) headers.push(...buildKeyHeader(provider, key.value));
  return headers;
}

/**
 * What of an answer's headers may be passed on.
 * @param raw names and values by turns
 */
export function filterAnswerHeaders(raw: readonly string[]): string[] {
  const named = listConnectionHeaders(raw);
  const headers: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (!NOT_RETURNED.has(name) && !named.has(name)) headers.push(raw[at]!, raw[at + 1]!);
  }
  return headers;
}

/** The first value of a header; `null` where it is not there. */
export function findHeader(headers: readonly string[], wanted: string): string | null {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]!.length === wanted.length && headers[at]!.toLowerCase() === wanted)
      return headers[at + 1]!;
  }
  return null;
}

/** Without headers of that name, in lower case. */
export function removeHeader(headers: readonly string[], name: string): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name);
}

/** What concerns this service, and above all its own credentials, leaves it for nobody. */
function isServiceHeader(name: string, value: string): boolean {
  if (name.startsWith('x-service-') || name.startsWith('x-forwarded-')) return true;
  return CREDENTIAL_HEADERS.has(name) && /^(?:bearer\s+)?svc_/i.test(value);
}

function listConnectionHeaders(headers: readonly string[]): ReadonlySet<string> {
  const listed = findHeader(headers, 'connection');
  if (listed === null) return NONE;
  return new Set(listed.split(',').map((name) => name.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();

function buildKeyHeader(
  { family, key_header }: Pick<UpstreamProvider, 'family' | 'key_header'>,
  value: string,
): readonly [string, string] {
  if (key_header !== null) return [key_header, value];
  if (family === 'anthropic') return ['x-api-key', value];
  if (family === 'gemini') return ['x-goog-api-key', value];
  return ['authorization', `Bearer ${value}`];
}
