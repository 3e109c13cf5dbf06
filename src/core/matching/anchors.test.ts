import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { detectors } from '../detectors/index.ts';
import { parseAnchor, parseUnits } from './anchors.ts';
import { complete, ENDING, follow, makeAutomaton, UNKNOWN } from './automaton.ts';

/** The same anchor as a regular expression of the language, which the automaton must agree with. */
function asPattern(notation: string): RegExp {
  const fold = notation.startsWith('(?i)');
  const rest = fold ? notation.slice(4) : notation;
  const source = rest.replace(/^\\b|^\(\?<!((?:\[(?:\\.|[^\]])*\])|\\.)\)/, (_, units = '\\w') => {
    const is_letter_class = new RegExp(units).test('n');
    return is_letter_class ? `(?:(?<!${units})|(?<=\\\\[nrt]))` : `(?<!${units})`;
  });
  return new RegExp(source, fold ? 'gi' : 'g');
}

/** Where each anchor ends in the text, `anchor@end`. */
function endingsByAutomaton(notations: readonly string[], text: string): string[] {
  const anchors = notations.flatMap((notation, index) =>
    parseAnchor(notation).map((anchor) => ({ anchor, index })),
  );
  const automaton = makeAutomaton(anchors.map(({ anchor }) => anchor));
  const found = new Set<string>();
  let row = automaton.start;
  for (let at = 0; at < text.length; at++) {
    const unit_class = automaton.classes[text.charCodeAt(at)]!;
    let entry = automaton.table[row + unit_class]!;
    if (entry === UNKNOWN) entry = follow(automaton, row, unit_class);
    row = entry % ENDING;
    for (const anchor of automaton.endings[row / automaton.stride]!)
      found.add(`${anchors[anchor]!.index}@${at + 1}`);
  }
  return [...found].sort();
}

/** The same by trying each pattern at each place. */
function endingsByPatterns(notations: readonly string[], text: string): string[] {
  const found = new Set<string>();
  notations.forEach((notation, index) => {
    for (const shorter of lengthsOf(notation)) {
      const pattern = new RegExp(shorter.source, shorter.flags.replace('g', 'y'));
      for (let at = 0; at < text.length; at++) {
        pattern.lastIndex = at;
        const match = pattern.exec(text);
        if (match !== null) found.add(`${index}@${at + match[0].length}`);
      }
    }
  });
  return [...found].sort();
}

/** A greedy count would hide the shorter lengths, so each is a pattern of its own. */
function lengthsOf(notation: string): readonly RegExp[] {
  const count = /\?(?![<i])|\{(\d+),(\d+)\}/.exec(notation);
  if (count === null) return [asPattern(notation)];
  const [least, most] = count[1] === undefined ? [0, 1] : [Number(count[1]), Number(count[2])];
  const lengths = Array.from({ length: most - least + 1 }, (_, at) => least + at);
  return lengths.flatMap((length) =>
    lengthsOf(`${notation.slice(0, count.index)}{${length}}${notation.slice(count.index + count[0].length)}`),
  );
}

test('the automaton of all detectors agrees with patterns tried at every place', () => {
  const notations = [...new Set(detectors.flatMap(({ anchors }) => anchors))];
  const pieces = detectors.flatMap(({ examples }) =>
    examples.hits.map((hit) => hit.replace(/[«»]/g, '').slice(0, 60)),
  );
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(...pieces),
      fc.string({ maxLength: 6 }),
      fc.constantFrom('\\n', 'é', '\ud83d', ' ', '-', '.'),
    ),
    { maxLength: 6 },
  );
  let endings = 0;
  fc.assert(
    fc.property(text, (parts) => {
      const expected = endingsByPatterns(notations, parts.join(''));
      endings += expected.length;
      assert.deepEqual(endingsByAutomaton(notations, parts.join('')), expected);
    }),
    { numRuns: 40 },
  );
  assert.ok(notations.length > 80 && endings > 40, `${notations.length} anchors, ${endings} endings`);
});

test('states grow with the anchors, and not with each pair of them', () => {
  const some = detectors.filter((_, at) => at % 5 === 0);
  const anchors = some.flatMap((detector) => detector.anchors.flatMap(parseAnchor));
  const automaton = makeAutomaton(anchors);
  const count = complete(automaton);
  const { length } = automaton.source.nodes;
  assert.ok(count > length / 2 && count < 6 * length, `${count} states of ${length} nodes`);
});

test('a text of all examples makes a part of the states', () => {
  const automaton = makeAutomaton(detectors.flatMap((detector) => detector.anchors.flatMap(parseAnchor)));
  const text = detectors.flatMap(({ examples }) => [...examples.hits, ...examples.misses]).join('\n');
  let row = automaton.start;
  for (let at = 0; at < text.length; at++) {
    row = follow(automaton, row, automaton.classes[text.charCodeAt(at)]!) % ENDING;
  }
  const count = automaton.source.nodes_of.length;
  assert.ok(count > 500 && count < 32_768, `${count} states`);
});

const NOTATION: readonly (readonly [string, readonly number[]])[] = [
  ['abc', [3]],
  ['\\babc', [3, 3]],
  ['(?<!\\d)ab', [2]],
  ['(?<![a-z])ab', [2, 2]],
  ['api[_-]?key', [6, 7]],
  ['\\d{3}-\\d{2}', [6]],
  ['\\d{1,3}\\.', [2, 3, 4]],
];

const MALFORMED = ['a*', 'a+', '(a)', 'a|b', '[a', 'a.', '(?<!a', 'a\\'];

test('an anchor is every length that its counts allow', () => {
  for (const [notation, lengths] of NOTATION) {
    assert.deepEqual(
      parseAnchor(notation).map(({ length }) => length),
      lengths,
      notation,
    );
  }
  assert.equal(NOTATION.length, 7);
});

test('what is not in the notation is refused by name', () => {
  for (const notation of MALFORMED)
    assert.throws(() => parseAnchor(notation), /is not in the notation/, notation);
  assert.throws(() => parseUnits('ab'), /one class/);
  assert.equal(MALFORMED.length, 8);
});
