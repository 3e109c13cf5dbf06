import { apiFamilies, getApiFamily } from '../../core/wire/families/index.ts';
import { containsServiceCredential } from '../../runtime/access/tokens.ts';
import type { ProviderKey, UpstreamProvider } from './settings.ts';

/** Hop-by-hop headers (RFC 9110, 7.6.1), in addition to those that `connection` names. */
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

/** Headers that are not forwarded to a provider: set again here, about the local network, or meant for this service. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'accept-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'via',
  'x-csrf-token',
  'x-real-ip',
]);

/** Headers of an answer that are not returned: its length and encoding may change, and its cookies are for another host. */
const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  'alt-svc',
  'content-length',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);

/**
 * Headers of an answer that only inform its reader. All others are not shown: a browser or a proxy may act on them in the
 * name of this service, and their values are not scanned.
 */
export const PASSIVE_HEADERS =
  /^(?:age|apim-request-id|cache-control|cf-ray|content-language|content-type|date|etag|expires|last-modified|retry-after(?:-ms)?|(?:x-)?request-id|x-should-retry|x-ms-[a-z0-9-]{1,64}|(?:x-)?ratelimit-[a-z0-9-]{1,64}|(?:anthropic|openai|x-groq|x-litellm)-[a-z0-9-]{1,64})$/;

/** Headers that carry API keys. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'api-key',
  ...apiFamilies.map(({ key_header: [name] }) => name),
]);

/**
 * Returns the headers of one attempt: the client's, with the key and the headers of the provider instead of its own.
 * @param given alternating names and values
 */
export function buildRequestHeaders(
  given: readonly string[],
  provider: Pick<UpstreamProvider, 'family' | 'headers' | 'key_header' | 'client_key'>,
  key: ProviderKey | null,
): string[] {
  const dropsKeys = key !== null || provider.client_key === 'drop';
  const own = new Set(provider.headers.map(([name]) => name));
  if (provider.key_header !== null) own.add(provider.key_header);
  const named = listConnectionHeaders(given);
  const headers: string[] = [];
  for (let at = 0; at + 1 < given.length; at += 2) {
    const name = given[at]!.toLowerCase();
    if (isServiceHeader(name, given[at + 1]!) || NOT_FORWARDED.has(name) || own.has(name) || named.has(name))
      continue;
    if (dropsKeys && CREDENTIAL_HEADERS.has(name)) continue;
    headers.push(given[at]!, given[at + 1]!);
  }
  // The answer must be scanned, and most stream events are too short to benefit from an encoding.
  headers.push('accept-encoding', 'identity');
  for (const [name, value] of provider.headers) headers.push(name, value);
  if (key !== null) headers.push(...buildKeyHeader(provider, key.value));
  return headers;
}

/**
 * Returns the headers of an answer that may be returned to the client.
 * @param raw alternating names and values
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

/** Returns the first value of a header; `null` if it is absent. */
export function findHeader(headers: readonly string[], wanted: string): string | null {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]!.length === wanted.length && headers[at]!.toLowerCase() === wanted)
      return headers[at + 1]!;
  }
  return null;
}

/** Returns the headers without those of a name, which is in lower case. */
export function removeHeader(headers: readonly string[], name: string): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name);
}

/** Returns whether a header belongs to this service, such as its credentials. Such headers are never forwarded. */
function isServiceHeader(name: string, value: string): boolean {
  if (name.startsWith('x-service-') || name.startsWith('x-forwarded-')) return true;
  if (containsServiceCredential(value)) return true;
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
  const [name, prefix] = getApiFamily(family ?? 'openai').key_header;
  return [name, `${prefix}${value}`];
}
