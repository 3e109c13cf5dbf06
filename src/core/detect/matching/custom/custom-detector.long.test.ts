import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  array,
  constantFrom,
  assert as holds,
  letrec,
  oneof,
  property,
  stringMatching,
  tuple,
} from 'fast-check';
import { RE2JS } from 're2js';
import type { CustomPattern } from '../../../types/index.ts';
import type { Match, WorkMeter } from '../compiled-detector.ts';
import { compileScanner, type Scanner, scanText } from '../scanner.ts';
import { buildCustomDetector } from './custom-detector.ts';
import { parsePatternTree } from './pattern-tree.ts';
import { findRequiredAnchor, measureUnits } from './required-anchor.ts';

const UNITS_MAX = 1_024;

/** Returns the pattern as the parser of the configuration builds it. */
function getCustom(pattern: string): CustomPattern {
  const tree = parsePatternTree(pattern);
  const found = findRequiredAnchor(tree);
  assert.ok(found !== null, `no anchor in ${pattern}`);
  return {
    id: 'own.pattern',
    detector: 'pattern',
    tags: ['internal'],
    severity: 'high',
    description: 'A pattern.',
    pattern,
    anchors: found.anchors,
    before_units_max: Math.min(found.before_units_max, 256),
    units_max: Math.min(measureUnits(tree).most, UNITS_MAX),
  };
}

const scanners = new Map<string, Scanner>();

function getSpans(pattern: string, text: string, meter?: WorkMeter): string[] {
  const matches: Match[] = [];
  const scanner = scanners.get(pattern) ?? compileScanner([buildCustomDetector(getCustom(pattern))]);
  scanners.set(pattern, scanner);
  scanText(scanner, text, matches, 10_000, meter);
  return matches.map(({ start, end }) => text.slice(start, end));
}

const ANCHORS: readonly (readonly [pattern: string, anchors: readonly string[] | null, before: number])[] = [
  ['EMP-\\d{2}', ['EMP\\-[0-9][0-9]'], 0],
  ['\\bACME[A-Z]+', ['\\bACME[A-Z]'], 0],
  ['(?i)acm', ['[Aa][Cc][Mm]'], 0],
  ['x(?i:ac)m', ['x[Aa][Cc]m'], 0],
  ['(?i:ac)MX', ['[Aa][Cc]MX'], 0],
  ['[A-Z]{1,2}-ACME', ['\\-ACME'], 2],
  ['(?:ab)?acme', ['acme', 'abacme'], 12],
  ['\\w+@acme\\.com', ['\\@acme\\.com'], Number.POSITIVE_INFINITY],
  ['[a-z]{0,9}/acme', ['\\/acme'], 9],
  ['(?:live|test)_[a-z]+', ['live_[a-z]', 'test_[a-z]'], 0],
  ['\\x41\\x{43}ME\\Q.*\\E', ['ACME\\.\\*'], 0],
  ['.acme', ['acme'], 2],
  ['(?:acme)+', ['acme'], 0],
  ['(?:acme)*', null, 0],
  ['acme|[0-9]{9}', null, 0],
  ['acme?|b', null, 0],
  ['[0-9]{3}-[0-9]{4}', null, 0],
  ['(?i)\\pL{3}', null, 0],
  ['ab\\B', null, 0],
];

test('an anchor occurs in every match, or there is none', () => {
  for (const [pattern, anchors, before] of ANCHORS) {
    const found = findRequiredAnchor(parsePatternTree(pattern));
    assert.deepEqual(found?.anchors ?? null, anchors, pattern);
    if (found !== null) assert.equal(found.before_units_max, before, pattern);
  }
  assert.equal(ANCHORS.length, 19);
});

const FOUND: readonly (readonly [pattern: string, text: string, found: readonly string[]])[] = [
  ['EMP-\\d{6}', 'EMP-123456, EMP-12345, xEMP-1234567', ['EMP-123456', 'EMP-123456']],
  ['\\bEMP-\\d{6}\\b', 'EMP-123456 xEMP-123456 EMP-1234567', ['EMP-123456']],
  ['\\bEMP-\\d{6}\\b', 'line\\nEMP-123456', ['EMP-123456']],
  ['acme (?P<value>\\w+)', 'acme abc', ['abc']],
  ['acme(?P<value>\\d*)', 'acme acme1', ['1']],
  ['\\w+@acme\\.com', 'to a.b@acme.com, c@acme.com', ['b@acme.com', 'c@acme.com']],
  ['^acme$', 'acme', ['acme']],
  ['^acme$', 'an acme', []],
  ['(?m)^acme$', 'an\nacme\n', ['acme']],
  ['.acme.', '😀acme😀', ['😀acme😀']],
  ['(?:ab){1,3}acme(?:acme)?', 'abababacmeacmeacme', ['abababacmeacme']],
  ['(?i)straße-\\d', 'STRAßE-1', ['STRAßE-1']],
  ['acme-[a-z]*?9', 'acme-abc9 acme-9', ['acme-abc9', 'acme-9']],
];

test('a pattern finds what its engine finds, at its place', () => {
  for (const [pattern, text, found] of FOUND) assert.deepEqual(getSpans(pattern, text), found, pattern);
  assert.equal(FOUND.length, 13);
});

const PATTERNS = [
  'acme-\\d{1,3}',
  '\\bacme[-a]*\\b',
  '[a-c]{0,4}acme(?:-|\\d)',
  '(?:acme|123-4)[a-e]?',
  '(?i)A?CME-+',
  '[^ ]{0,3}acme[^ ]{0,3}',
] as const;

test('whatever the text, a pattern finds what its engine finds in the whole of it', () => {
  const piece = oneof(
    constantFrom('acme', 'acme-', 'ACME', 'acm', '123-4', ' ', 'a', '-', '7'),
    stringMatching(/^[a-e -]{0,4}$/),
  );
  let found = 0;
  holds(
    property(array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      for (const pattern of PATTERNS) {
        const expected = [...RE2JS.compile(pattern).matchAll(text)].map(([match]) => match);
        assert.deepEqual(getSpans(pattern, text), expected, `${pattern} in ${JSON.stringify(text)}`);
        found += expected.length;
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(found > 300, `${found} found`);
});

const TERMS = String.raw`a b c ab - 1 A é 😀 \. \x61 \Qa.b\E [ab] [a-c] [^a] \d \w \s . [[:alpha:]] \pL [\w-] [é-ü] \b \B ^ (?m:$) acm`;
const COUNTS = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '{2,}?'] as const;

/** A pattern of terms, alternatives and counted groups. */
const anyPattern = letrec<{ ways: string; group: string }>((tie) => ({
  ways: array(
    array(oneof({ maxDepth: 2 }, constantFrom(...TERMS.split(' ')), tie('group')), {
      minLength: 1,
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 2 },
  ).map((ways) => ways.map((parts) => parts.join('')).join('|')),
  group: tuple(constantFrom('(?:', '(', '(?i:', '(?s:'), tie('ways'), constantFrom(...COUNTS)).map(
    ([open, inner, count]) => `${open}${inner})${count}`,
  ),
})).ways;

test('whatever pattern and text, the same is found as by its engine', () => {
  const units = [...'a b c ab acm acm acm - 1 A B C é 😀 a.b ſ K É'.split(' '), ' ', '\n'];
  const texts = array(array(constantFrom(...units), { maxLength: 14 }), { minLength: 12, maxLength: 12 });
  const orNothing = constantFrom('', '|', '|');
  let found = 0;
  holds(
    property(anyPattern, orNothing, anyPattern, orNothing, texts, (before, maybe, after, perhaps, all) => {
      const pattern = `(?:${before}${maybe})acm(?:${after}${perhaps})`;
      for (const text of all.map((parts) => parts.join(''))) {
        const expected = [...RE2JS.compile(pattern).matchAll(text)].map(([match]) => match);
        assert.deepEqual(getSpans(pattern, text), expected, `${pattern} in ${JSON.stringify(text)}`);
        found += expected.length;
      }
    }),
    { numRuns: 100 },
  );
  assert.ok(found > 200, `${found} found`);
});

test('a match is as long as the limit at most, and is found there', () => {
  const [found] = getSpans('acme_[a-z]+', `acme_${'x'.repeat(5_000)}`);
  assert.ok(found !== undefined && found.length >= UNITS_MAX && found.length <= UNITS_MAX + 1);
});

const HOSTILE: readonly (readonly [pattern: string, piece: string])[] = [
  ['acme-[a-z-]{1,400}!', 'acme-'],
  ['acm(?:a?){30}a{30}b', 'acma'],
  ['[a-e]*acme[a-e]*x', 'acme'],
  ['(?:acme)+(?:acme)+x', 'acme'],
];

test('work grows with the text, whatever pattern and text', () => {
  for (const [pattern, piece] of HOSTILE) {
    const work = (units: number) => {
      const meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY };
      getSpans(pattern, piece.repeat(units / piece.length), meter);
      return meter.work / units;
    };
    assert.ok(work(64_000) <= 2 * work(16_000), pattern);
    assert.ok(work(16_000) > 100, `${pattern} is counted`);
  }
});

/** The work of one try: all units that a match may have, times all instructions that a pattern may have. */
const ONE_TRY_MAX = 1_024 * (8 + 2_000 / 2);

test('a scan that has done its work ends', () => {
  const meter: WorkMeter = { work: 0, allowed: 100_000 };
  getSpans('acme-[a-z-]{1,400}!', 'acme-'.repeat(20_000), meter);
  assert.ok(meter.work > meter.allowed && meter.work < meter.allowed + ONE_TRY_MAX, `${meter.work}`);
});
