/** Asserts that a provider receives the same requests through the LLM proxy as from the client itself. */
import assert from 'node:assert/strict';
import type { Exchange } from '../support/provider/provider.ts';
import type { Lane } from './lanes.ts';

/** Headers of one connection, of one attempt, or of one test run. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  // Compressed content cannot be guarded, so the proxy requests no encoding.
  'accept-encoding',
  'x-case',
]);
/** The member that the proxy adds if a stream would not contain its usage. */
const ADDED = '"stream_options":{"include_usage":true}';

/** Compares requests one by one: method, URL, headers and every byte of the body. */
export function assertSameRequests(
  lane: Lane,
  direct: readonly Exchange[],
  through: readonly Exchange[],
): void {
  assert.equal(through.length, direct.length, 'requests');
  for (const [at, one] of direct.entries()) {
    const other = through[at]!;
    assert.equal(`${other.method} ${other.url}`, `${one.method} ${one.url}`);
    assert.deepEqual(getHeaders(other), getHeaders(one));
    const body = other.body.toString('utf8');
    const expected = one.body.toString('utf8');
    const isAsked = !lane.usage_is_asked || body.includes('"include_usage": true') || body === expected;
    const came = isAsked ? body : withoutUsage(body);
    const same = lane.client === 'google' ? [joined(came), joined(expected)] : [came, expected];
    assert.equal(same[0], same[1], 'bytes of the body');
  }
}

function getHeaders({ raw_headers }: Exchange): readonly string[] {
  return raw_headers
    .flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw_headers[at + 1]!] as const] : []))
    .filter(([name]) => !OWN_HEADERS.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

/**
 * Joins thoughts. Gemini's client returns them in the pieces in which they arrived, and held text arrives in other
 * pieces.
 */
function joined(body: string): string {
  return body.replaceAll('","thought":true},{"text":"', '');
}

/** Removes the member that the proxy added, and nothing else. */
function withoutUsage(body: string): string {
  assert.equal(body.split(ADDED).length, 2, `\`${ADDED}\` is there once`);
  return body.replace(`,${ADDED}`, '').replace(`${ADDED},`, '');
}
