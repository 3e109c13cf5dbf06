/** Whether a provider received through the gateway what it receives from the client itself. */
import assert from 'node:assert/strict';
import type { Exchange } from '../support/provider/provider.ts';
import type { Lane } from './lanes.ts';

/** Headers of one connection, of one try, or of a run of these tests. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  // What cannot be read cannot be guarded: the gateway asks for no encoding.
  'accept-encoding',
  'x-case',
]);
/** What the gateway adds where a stream would not tell its usage. */
const ADDED = '"stream_options":{"include_usage":true}';

/** Compares requests one by one: method, address, headers and every byte of the body. */
export function assertSameRequests(
  lane: Lane,
  direct: readonly Exchange[],
  through: readonly Exchange[],
): void {
  assert.equal(through.length, direct.length, 'requests');
  for (const [at, one] of direct.entries()) {
    const other = through[at]!;
    assert.equal(`${other.method} ${other.url}`, `${one.method} ${one.url}`);
    assert.deepEqual(headersOf(other), headersOf(one));
    const body = other.body.toString('utf8');
    const expected = one.body.toString('utf8');
    const is_asked = !lane.usage_is_asked || body.includes('"include_usage": true') || body === expected;
    const came = is_asked ? body : withoutUsage(body);
    const same = lane.client === 'google' ? [joined(came), joined(expected)] : [came, expected];
    assert.equal(same[0], same[1], 'bytes of the body');
  }
}

function headersOf({ raw_headers }: Exchange): readonly string[] {
  return raw_headers
    .flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw_headers[at + 1]!] as const] : []))
    .filter(([name]) => !OWN_HEADERS.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

/** Gemini's client gives thoughts back in the pieces in which they came, and a text that is held comes in others. */
function joined(body: string): string {
  return body.replaceAll('","thought":true},{"text":"', '');
}

/** The body without what the gateway added, and with that only. */
function withoutUsage(body: string): string {
  assert.equal(body.split(ADDED).length, 2, `\`${ADDED}\` is there once`);
  return body.replace(`,${ADDED}`, '').replace(`${ADDED},`, '');
}
