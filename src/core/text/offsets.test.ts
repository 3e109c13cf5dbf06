import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertToCodePoints } from './offsets.ts';

test('offsets count code points, in the order given', () => {
  assert.deepEqual(convertToCodePoints('😀😀@', [4, 5, 2, 0, 4]), [2, 3, 1, 0, 2]);
  assert.deepEqual(convertToCodePoints('a\ud83db\ude00c', [1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
  assert.deepEqual(convertToCodePoints('', [0]), [0]);
});

test('an offset is the number of code points before it, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
      const starts = [0];
      for (const char of text) starts.push(starts.at(-1)! + char.length);
      assert.deepEqual(
        convertToCodePoints(text, starts),
        starts.map((_, index) => index),
      );
    }),
  );
});
