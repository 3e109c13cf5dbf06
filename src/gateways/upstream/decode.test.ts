import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { decodeAnswer } from './decode.ts';
import type { UpstreamHttpAnswer } from './exchange.ts';
import { UpstreamFailure } from './failure.ts';
import { findHeader } from './headers.ts';
import { expectUpstreamFailure, readBodyText } from './testing/test-upstreams.ts';

const TEXT = 'data: é\n\n'.repeat(10_000);

/** Builds an answer with a body in pieces, and records whether it was cut. */
function answer(encoding: string, bytes: Uint8Array, pieceBytes = 1_000) {
  const seen = { read: 0, cut: null as UpstreamFailure | null };
  async function* streamPieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      seen.read += 1;
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  const incoming: UpstreamHttpAnswer = {
    status: 200,
    headers: ['Content-Encoding', encoding, 'X-Ok', '1'],
    body: streamPieces(),
    cut: (reason) => {
      seen.cut = reason;
    },
  };
  return { incoming, seen };
}

test('every encoding in use is taken off, and its header with it', async () => {
  const rows = [
    ['gzip', gzipSync(TEXT)],
    ['X-GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
  ] as const;
  for (const [encoding, bytes] of rows) {
    const { incoming, seen } = answer(encoding, bytes);
    const plain = decodeAnswer(incoming);
    assert.equal(await readBodyText(plain), TEXT, encoding);
    assert.equal(findHeader(plain.headers, 'content-encoding'), encoding === 'identity' ? encoding : null);
    assert.deepEqual([findHeader(plain.headers, 'x-ok'), seen.cut], ['1', null]);
  }
  assert.equal(rows.length, 6);
});

test('what cannot be decoded is no answer, and ends the connection', async () => {
  const { incoming: unknown, seen: cut } = answer('gzip, br', Buffer.from('x'));
  assert.throws(() => decodeAnswer(unknown), { name: 'UpstreamFailure', code: 'upstream_broken' });
  // A property name that every object inherits.
  const { incoming: inherited } = answer('constructor', Buffer.from('x'));
  assert.throws(() => decodeAnswer(inherited), { name: 'UpstreamFailure', code: 'upstream_broken' });
  assert.notEqual(cut.cut, null);
  const rows = [Buffer.from('no gzip at all'), gzipSync(TEXT).subarray(0, 100)];
  for (const bytes of rows) {
    const { incoming, seen } = answer('gzip', bytes);
    assert.equal((await expectUpstreamFailure(readBodyText(decodeAnswer(incoming)))).code, 'upstream_broken');
    assert.ok(seen.cut instanceof UpstreamFailure);
  }
  assert.equal(rows.length, 2);
});

test('a small answer that decodes to a huge one is decoded only as far as it is read', async () => {
  const { incoming, seen } = answer('gzip', gzipSync(Buffer.alloc(256 * 1_024 * 1_024)), 4_096);
  const all = seen;
  let bytes = 0;
  for await (const chunk of decodeAnswer(incoming).body) {
    bytes += chunk.length;
    if (bytes > 1_000_000) break;
  }
  assert.ok(all.read < 40, `${all.read} pieces of 64 were read for one megabyte of 256`);
});

test('a connection failure is passed on unchanged', async () => {
  const failure = new UpstreamFailure('upstream_timeout', 'late');
  const { incoming } = answer('gzip', gzipSync(TEXT), 10);
  async function* streamThenFail() {
    yield gzipSync(TEXT).subarray(0, 20);
    throw failure;
  }
  assert.equal(
    await expectUpstreamFailure(readBodyText(decodeAnswer({ ...incoming, body: streamThenFail() }))),
    failure,
  );
});
