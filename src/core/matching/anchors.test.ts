import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anchorTables } from '../detection/anchor-tables.ts';
import { builtin } from '../detectors/builtin.ts';
import { detectors } from '../detectors/index.ts';
import { parseAnchor, parseUnits, standsAt } from './anchors.ts';
import { CLASS_BITS } from './automaton.ts';
import { tablesOf, writeTables } from './made-tables.ts';
import { notationsOf } from './scanner.ts';
import { makeTables, type Tables } from './tables.ts';
import { makeHits, PART_UNITS, walk } from './walk.ts';

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

/** Where each anchor ends in the text, `anchor@end`: a head that the automata find, and the rest compared. */
function endingsByTables(notations: readonly string[], tables: Tables, text: string): string[] {
  const words = makeHits();
  const shapes = makeHits();
  const found = new Set<string>();
  for (let from = 0; from < text.length; from += PART_UNITS) {
    walk(tables, text, from, Math.min(text.length, from + PART_UNITS), words, shapes);
    for (const [automaton, hits] of [[tables.words, words] as const, [tables.shapes, shapes] as const]) {
      for (let hit = 0; hit < hits.count; hit++) {
        const state = hits.state[hit]!;
        const ended = automaton.endings.subarray(
          automaton.endings_from[state],
          automaton.endings_from[state + 1],
        );
        for (const entry of ended) {
          const notation = tables.notation[entry]!;
          const anchor = parseAnchor(notations[notation]!)[tables.expansion[entry]!]!;
          const start = hits.end[hit]! - tables.reach[entry]!;
          if (standsAt(anchor, text, start)) found.add(`${notation}@${start + anchor.sets.length}`);
        }
      }
    }
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

const notations = notationsOf(builtin);
const made = tablesOf(notations, anchorTables);

test('the automata of all detectors agree with patterns tried at every place', () => {
  const pieces = detectors.flatMap(({ examples }) =>
    examples.hits.map((hit) => hit.replace(/[«»]/g, '').slice(0, 60)),
  );
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(...pieces),
      fc.string({ maxLength: 6 }),
      fc.constantFrom('\\n', 'é', '\ud83d', ' ', '-', '.'),
    ),
    { maxLength: 12 },
  );
  let endings = 0;
  fc.assert(
    fc.property(text, (parts) => {
      const expected = endingsByPatterns(notations, parts.join(''));
      endings += expected.length;
      assert.deepEqual(endingsByTables(notations, made, parts.join('')), expected);
    }),
    { numRuns: 40 },
  );
  assert.ok(notations.length > 80 && endings > 40, `${notations.length} anchors, ${endings} endings`);
});

test('all states are made ahead, and few', () => {
  assert.equal(anchorTables.hash, writeTables(notations).hash);
  const states = [made.words, made.shapes].map(({ table }) => table.length >> CLASS_BITS);
  assert.ok(states.every((count) => count > 1000) && states[0]! + states[1]! < 32_768, `${states} states`);
  assert.ok(anchorTables.data.length < 500_000);
});

test('tables are the same written and read', () => {
  const some = notations.filter((_, at) => at % 40 === 0);
  assert.deepEqual(tablesOf(some, writeTables(some)), makeTables(some));
  assert.notEqual(writeTables(some).hash, writeTables(some.slice(1)).hash);
});

test('where anchors make too many states, heads are shorter', () => {
  const letters = [...'abcdefghijklmnopqrst'];
  const hostile = letters.flatMap((a) =>
    letters.map((b) => `[${a}${b}c-z0-9]{6}[^${a}]{4}[^${b}]{4}${a}${b}`),
  );
  const tables = makeTables(hostile);
  const text = `${'abcdefghij0123456789'.repeat(20)}zzzzzzyyyyyyyyab`;
  assert.deepEqual(endingsByTables(hostile, tables, text), endingsByPatterns(hostile, text));
  assert.ok(tables.shapes.table.length >> CLASS_BITS <= 32_768);
});

test('a text is walked in parts and lanes as it is one by one', () => {
  const piece = "key = 'a1b2' \\nsk-ant- 2026-01-02 é 4111-1111 jane@acme.com ";
  for (const units of [1, 47, 48, 159, 160, 161, 300, PART_UNITS - 1, PART_UNITS, PART_UNITS + 1]) {
    const text = piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
    assert.deepEqual(endingsByTables(notations, made, text), oneByOne(text), `${units} units`);
  }
});

/** Each anchor wherever it stands. */
function oneByOne(text: string): string[] {
  const found = new Set<string>();
  notations.forEach((notation, index) => {
    for (const anchor of parseAnchor(notation)) {
      for (let at = 0; at < text.length; at++)
        if (standsAt(anchor, text, at)) found.add(`${index}@${at + anchor.sets.length}`);
    }
  });
  return [...found].sort();
}

const NOTATION: readonly (readonly [string, readonly number[]])[] = [
  ['abc', [3]],
  ['\\babc', [3]],
  ['(?<!\\d)ab', [2]],
  ['(?<![a-z])ab', [2]],
  ['api[_-]?key', [6, 7]],
  ['\\d{3}-\\d{2}', [6]],
  ['\\d{1,3}\\.', [2, 3, 4]],
  ['ab(?!\\d)', [2]],
];

const MALFORMED = ['a(?!b)c', 'a*', 'a+', '(a)', 'a|b', '[a', 'a.', '(?<!a', 'a\\'];

test('an anchor is every length that its counts allow', () => {
  for (const [notation, lengths] of NOTATION) {
    assert.deepEqual(
      parseAnchor(notation).map(({ sets }) => sets.length),
      lengths,
      notation,
    );
  }
  assert.equal(NOTATION.length, 8);
});

test('what is not in the notation is refused by name', () => {
  for (const notation of MALFORMED)
    assert.throws(() => parseAnchor(notation), /is not in the notation/, notation);
  assert.throws(() => parseUnits('ab'), /one class/);
  assert.equal(MALFORMED.length, 9);
});
