import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeColumnText, encodeColumnText } from './text-encoding.ts';

const unit = fc.constantFrom(0, 0x30, 0x66, 0xd800, 0xdc00, 0xdfff, 0xf8ff, 0xe9, 0x4e2d);
const wild = fc.array(unit).map((units) => String.fromCharCode(...units));

test('every text comes back, is one that databases can hold, and equals no other', () => {
  let runs = 0;
  fc.assert(
    fc.property(wild, wild, (text, other) => {
      runs += 1;
      const stored = encodeColumnText(text);
      assert.equal(decodeColumnText(stored), text);
      assert.ok(stored.isWellFormed() && !stored.includes('\0'));
      assert.equal(stored === encodeColumnText(other), text === other);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(runs >= 2_000);
});

test('ordinary texts are written as they are', () => {
  const texts = ['', 'plain', 'Grüße, 世界', '\u{1f511}', 'a\nb\tc', '\uffff\ue000'];
  for (const text of texts) assert.equal(encodeColumnText(text), text);
  assert.equal(encodeColumnText('a\0b'), 'a\uf8ff0000b');
  assert.equal(texts.length, 6);
});
