import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allDetectors } from '../detect/detectors/all.ts';
import { advanceState, buildAutomaton, type PatternAutomaton } from './pattern-automaton.ts';

/**
 * Returns the number of units after which an attempt at the start of the text is decided. If it is not decided, the
 * number is one more than the length of the text.
 */
function findDecisionOffset({ first, ...liveness }: PatternAutomaton, text: string): number {
  let state = first;
  for (let at = 0; at < text.length; at++) {
    if (!state.is_open) return at;
    state = advanceState({ first, ...liveness }, state, text.charCodeAt(at));
  }
  return state.is_open ? text.length + 1 : text.length;
}

const DECIDED: readonly (readonly [pattern: RegExp, text: string, decided: number])[] = [
  [/ab/, 'a', 2],
  [/ab/, 'abc', 2],
  [/ab/, 'ac', 2],
  [/ab\b/, 'ab', 3],
  [/ab\b/, 'abc', 3],
  [/ab$/, 'ab', 3],
  [/a+/i, 'aAa', 4],
  [/a+/, 'aaA', 3],
  [/a{2}/, 'aaaa', 2],
  [/(?:ab|abc)d/, 'abc', 4],
  [/a(?![bc])/, 'a', 2],
  [/a(?![bc])/, 'ab', 2],
  [/a(?=bc)/, 'ab', 3],
  [/(?:a(?!aa))+x/, 'aaa', 3],
  [/(?:[^-]|-(?!--))*/, 'a---', 4],
  [/(?:[^-]|-(?!--))*/, 'a--', 4],
  [/(['"])a\1/, '"a', 3],
  [/[\u00e9-\u00ff]x/, '\u00e9', 2],
];

test('a try is decided where nothing behind can change it', () => {
  for (const [pattern, text, decided] of DECIDED)
    assert.equal(findDecisionOffset(buildAutomaton(pattern), text), decided, `${pattern} in ${text}`);
  assert.equal(DECIDED.length, 18);
});

test('what is decided stays as it is, whatever follows', () => {
  const tries = allDetectors.flatMap(({ pattern, examples: { hits } }) =>
    'find' in pattern
      ? []
      : hits.map((hit) => {
          const text = hit.replace(/[«»]/g, '');
          const sticky = new RegExp(pattern.source, `${pattern.flags}y`);
          return { sticky, liveness: buildAutomaton(pattern), text };
        }),
  );
  let decided = 0;
  fc.assert(
    fc.property(fc.constantFrom(...tries), fc.nat(), fc.string(), ({ sticky, liveness, text }, at, more) => {
      const start = at % text.length;
      const seen = findDecisionOffset(liveness, text.slice(start));
      if (seen > text.length - start) return;
      decided += 1;
      sticky.lastIndex = start;
      const before = sticky.exec(text)?.[0];
      sticky.lastIndex = start;
      assert.equal(sticky.exec(text.slice(0, start + seen) + more)?.[0], before);
    }),
    { numRuns: 5000, seed: 3 },
  );
  assert.ok(decided > 3000, `${decided}`);
});
