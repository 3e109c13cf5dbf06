import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allDetectors } from '../detect/detectors/all.ts';
import { createRandom, generateHostilePiece, splitPattern } from './hostile-texts.ts';
import { compileCountingMatcher } from './steps.ts';

/** Patterns with every construct that built-in patterns use. */
const PATTERNS: readonly RegExp[] = [
  /a(?:b|bc)?c/,
  /(?:a{1,3}?b?){0,4}c/,
  /(a|ab)(c|bcd)(d{0,3})/,
  /(?:(a)|b){1,4}c?/,
  /(?:a?){2,4}b/,
  /(?=(a{1,3}))a{0,2}b/,
  /(?!ab)[a-c]{1,4}?(?=d|$)/,
  /(?<=a|bc)[^ab]{1,3}/,
  /(?<=(a{1,2})(b{1,2}))c/,
  /(?<!\bab{0,2})c\b/,
  /^a.{0,3}?$/,
  /^[ab]{1,2}\n?.$/s,
  /[A-C]{1,3}\bD?/i,
  /(?<value>[ab]{1,2})-\1/,
  /[^a]{1,3}[😀b]/u,
  /.{1,2}\u{1F600}?c/su,
  /(?<=.)c/su,
];
const UNITS = [...'aaabbbcccdABC-\n 😀', '\ud83d'];

function compareMatchers(pattern: RegExp, text: string, at: number): boolean {
  const sticky = new RegExp(pattern.source, `${pattern.flags.replace(/[dgy]/g, '')}dy`);
  sticky.lastIndex = at;
  const found = sticky.exec(text);
  const { end, spans } = compileCountingMatcher(pattern)(text, at);
  const expected = found?.indices?.flatMap((span) => span ?? [-1, -1]);
  // In Unicode mode, V8 starts at the code point boundary if the index is inside a surrogate pair.
  const isAmid = pattern.unicode && at > 0 && text.codePointAt(at - 1)! > 0xffff;
  if (!isAmid) assert.deepEqual(end === null ? undefined : spans, expected, `${pattern} ${text} ${at}`);
  return found !== null;
}

test('what counts finds what V8 finds: the same ends, the same groups', () => {
  const texts = fc.array(fc.constantFrom(...UNITS), { maxLength: 9 }).map((units) => units.join(''));
  for (const pattern of PATTERNS) {
    let found = 0;
    fc.assert(
      fc.property(texts, (text) => {
        for (let at = 0; at <= text.length; at++) if (compareMatchers(pattern, text, at)) found += 1;
      }),
      { numRuns: 500, seed: 1 },
    );
    assert.ok(found > 0, String(pattern));
  }
});

test('built-in patterns are counted as V8 reads them', () => {
  const below = createRandom(1);
  let found = 0;
  for (const { pattern } of allDetectors.filter((_, at) => at % 7 === 0)) {
    if ('find' in pattern) continue;
    const parts = splitPattern(pattern);
    for (let piece = 0; piece < 6; piece++)
      if (compareMatchers(pattern, generateHostilePiece(parts, below), 0)) found += 1;
  }
  assert.ok(found > 100, `${found}`);
});

/** Pattern, text and steps: one per unit and per repetition, a quarter for an alternative with another first unit. */
const STEPS: readonly (readonly [RegExp, string, number])[] = [
  [/abc/, 'abc', 3],
  [/abc/, 'abd', 3],
  [/a{1,9}b/, 'aaac', 10],
  [/(?:x|y|a)b/, 'ab', 2.5],
];

test('steps are those of a matcher that goes back', () => {
  for (const [pattern, text, steps] of STEPS)
    assert.equal(compileCountingMatcher(pattern)(text, 0).steps, steps, String(pattern));
  assert.equal(STEPS.length, 4);
});

test('a pattern that can be read in many ways takes many steps, and the same in one way few', () => {
  const many = compileCountingMatcher(/(?:[a-z.]{1,9}[.]?){0,4}-/)('abc.'.repeat(8), 0).steps;
  const few = compileCountingMatcher(/(?:[a-z]{1,9}[.]){0,4}-/)('abc.'.repeat(8), 0).steps;
  assert.ok(many > 10_000 && few < 400, `${many}, ${few}`);
});
