import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allDetectors } from '../detectors/all.ts';
import { growAnchorTree } from './anchor-tree.ts';
import { parseAnchor, parseUnits } from './anchors.ts';
import { type Automaton, createAutomaton } from './automaton.ts';
import type { WorkMeter } from './compiled-detector.ts';
import { buildTrie } from './trie.ts';
import { createAnchorHits, getStartPosition, PART_UNITS, walkAutomaton } from './walk-automaton.ts';

/** Translates an anchor to a regular expression, which the automaton must agree with. */
function asPattern(notation: string): RegExp {
  const fold = notation.startsWith('(?i)');
  const rest = fold ? notation.slice(4) : notation;
  const source = rest.replace(/^\\b|^\(\?<!((?:\[(?:\\.|[^\]])*\])|\\.)\)/, (_, units = '\\w') => {
    const isLetterClass = new RegExp(units).test('n');
    return isLetterClass ? `(?:(?<!${units})|(?<=\\\\[nrt]))` : `(?<!${units})`;
  });
  return new RegExp(source, fold ? 'gi' : 'g');
}

const hits = createAnchorHits();

/** Returns where each anchor ends in the text, as `anchor@end`. The text is walked in parts of the given size. */
function findEndingsByAutomaton(
  automaton: Automaton,
  text: string,
  partUnits = PART_UNITS,
  meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY },
): string[] {
  const found = new Set<string>();
  let place = getStartPosition(automaton);
  for (let from = 0; from < text.length; from += partUnits) {
    place = walkAutomaton(automaton, place, text, from, Math.min(text.length, from + partUnits), hits, meter);
    for (let hit = 0; hit < hits.count; hit++)
      for (const anchor of automaton.endings[hits.states[hit]!]!) found.add(`${anchor}@${hits.ends[hit]}`);
  }
  return [...found].sort();
}

/** Computes the same by trying each pattern at each offset. */
function findEndingsByPatterns(notations: readonly string[], text: string): string[] {
  const found = new Set<string>();
  notations.forEach((notation, index) => {
    for (const shorter of getLengths(notation)) {
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

/** Returns one pattern for each length, because a greedy count hides the shorter lengths. */
function getLengths(notation: string): readonly RegExp[] {
  const count = /\?(?![<i])|\{(\d+),(\d+)\}/.exec(notation);
  if (count === null) return [asPattern(notation)];
  const [least, most] = count[1] === undefined ? [0, 1] : [Number(count[1]), Number(count[2])];
  const lengths = Array.from({ length: most - least + 1 }, (_, at) => least + at);
  return lengths.flatMap((length) =>
    getLengths(
      `${notation.slice(0, count.index)}{${length}}${notation.slice(count.index + count[0].length)}`,
    ),
  );
}

const notations = [...new Set(allDetectors.flatMap(({ anchors }) => anchors))];
const anchors = notations.flatMap((notation, index) =>
  parseAnchor(notation).map((anchor) => ({ anchor, index })),
);
const tree = growAnchorTree(anchors.map(({ anchor }) => anchor));

test('the automaton of all detectors agrees with patterns tried at every place', () => {
  const pieces = allDetectors.flatMap(({ examples }) =>
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
  const automaton = createAutomaton(buildTrie(tree));
  let endings = 0;
  fc.assert(
    fc.property(text, (parts) => {
      const expected = findEndingsByPatterns(notations, parts.join(''));
      endings += expected.length;
      const found = findEndingsByAutomaton(automaton, parts.join('')).map((ending) =>
        ending.replace(/^\d+/, (anchor) => `${anchors[Number(anchor)]!.index}`),
      );
      assert.deepEqual([...new Set(found)].sort(), expected);
    }),
    { numRuns: 40 },
  );
  assert.ok(notations.length > 80 && endings > 40, `${notations.length} anchors, ${endings} endings`);
});

const EXAMPLES = allDetectors.flatMap(({ examples }) => [...examples.hits, ...examples.misses]).join('\n');

test('a walk at four positions, in parts, or with rebuilt states finds the same', () => {
  const text = EXAMPLES.slice(0, 60_000);
  const whole = createAutomaton(buildTrie(tree));
  const expected = findEndingsByAutomaton(whole, text, 200);
  const few = createAutomaton(buildTrie(tree), 1_000);
  assert.deepEqual(findEndingsByAutomaton(whole, text), expected);
  assert.deepEqual(findEndingsByAutomaton(whole, text, 1_111), expected);
  assert.deepEqual(findEndingsByAutomaton(few, text, 700), expected);
  assert.ok(expected.length > 5_000, `${expected.length} endings`);
  assert.ok(whole.nodes_of.length > 3_000 && few.nodes_of.length <= 1_000, `${few.nodes_of.length} states`);
});

test('a part of only ASCII units and a part with others find the same', () => {
  const text = EXAMPLES.replace(/[^\0-\x7f]/g, ' ').slice(0, 60_000);
  const withOthers = text.replace(/ (?=.{0,400}$)/gm, 'é');
  const automaton = createAutomaton(buildTrie(tree));
  for (const each of [text, withOthers]) {
    const expected = findEndingsByAutomaton(automaton, each, 200);
    assert.deepEqual(findEndingsByAutomaton(automaton, each), expected);
    assert.deepEqual(findEndingsByAutomaton(automaton, ` ${each}`.slice(1), 4_096), expected);
    assert.ok(expected.length > 2_000, `${expected.length} endings`);
  }
  assert.ok(text.isWellFormed() && withOthers.split('é').length > 1_000);
});

test('the number of states stays within its limit for every text', () => {
  const automaton = createAutomaton(buildTrie(tree));
  const { length } = automaton.table;
  for (let round = 0; round < 2; round++) {
    findEndingsByAutomaton(automaton, EXAMPLES);
    findEndingsByAutomaton(automaton, [...EXAMPLES].reverse().join(''));
    assert.ok(automaton.nodes_of.length > 500 && automaton.nodes_of.length <= 32_768);
  }
  assert.ok(automaton.table.length > length, 'the table has grown');
  assert.equal(automaton.table.length, 32_768 << 7);
  assert.equal(automaton.wide.length, 32_768 << automaton.wide_bits);
});

test('ways that are worked out again and again are work', () => {
  const workOf = (statesMax?: number): number => {
    const meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY };
    findEndingsByAutomaton(
      createAutomaton(buildTrie(tree), statesMax),
      EXAMPLES.slice(0, 200_000).repeat(4),
      700,
      meter,
    );
    return meter.work;
  };
  assert.ok(workOf(1_000) > 1_000_000);
  assert.equal(workOf(), 0);
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
