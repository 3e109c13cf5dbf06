import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens, tokensAtMost } from './estimate.ts';

const PROSE = 'The quick brown fox jumps over the lazy dog, and nobody minds.';
/** A text, about how many tokens it is, and how many are put aside. */
const ROWS: readonly (readonly [string, number, number])[] = [
  ['', 0, 0],
  ['a', 1, 1],
  [PROSE, 16, 31],
  [PROSE.repeat(1_000), 15_500, 31_000],
  ['敏捷的棕色狐狸', 5, 14],
  ['naïve', 2, 4],
  ['🦊🦊', 3, 8],
];

test('tokens of a text', () => {
  for (const [text, about, most] of ROWS) {
    assert.deepEqual([estimateTokens(text), tokensAtMost(text)], [about, most], text.slice(0, 20));
    assert.ok(about <= most);
  }
  assert.equal(ROWS.length, 7);
});
