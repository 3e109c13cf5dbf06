import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createUtf8Decoder, decodeUtf8 } from './utf8-decoder.ts';

/** Decodes bytes in two pieces; `null` if they are not UTF-8 or the last character is incomplete. */
function read(bytes: Uint8Array, cut: number): string | null {
  const reader = createUtf8Decoder();
  const first = decodeUtf8(reader, bytes.subarray(0, cut));
  const second = first === null ? null : decodeUtf8(reader, bytes.subarray(cut));
  return second === null || reader.missing > 0 ? null : first + second;
}

function decodeWithPlatform(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

test('bytes are read as the platform reads them, wherever they are cut', () => {
  let refused = 0;
  const text = fc
    .string({ unit: 'binary', maxLength: 6 })
    .map((written) => new TextEncoder().encode(written));
  const edges = fc
    .array(
      fc.constantFrom(
        0x41,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc0,
        0xc2,
        0xe0,
        0xed,
        0xef,
        0xf0,
        0xf4,
        0xf5,
      ),
      {
        maxLength: 5,
      },
    )
    .map((bytes) => Uint8Array.from(bytes));
  fc.assert(
    fc.property(fc.oneof(text, edges, fc.uint8Array({ maxLength: 4 })), (bytes) => {
      const whole = decodeWithPlatform(bytes);
      if (whole === null) refused += 1;
      for (let cut = 0; cut <= bytes.length; cut++) assert.equal(read(bytes, cut), whole, `${bytes}`);
    }),
    { numRuns: 5000, seed: 1 },
  );
  assert.ok(refused > 500 && refused < 4500, `${refused}`);
});
