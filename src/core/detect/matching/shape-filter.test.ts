import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { allDetectors } from '../detectors/all.ts';
import type { Match } from './compiled-detector.ts';
import type { Detector } from './detector.ts';
import { buildDigitProfile, classifyUnit, type DigitProfile } from './digit-profile.ts';
import { compileScanner, scanText } from './scanner.ts';
import { SHAPES_MAX } from './shape-filter.ts';
import { compileShapeMatcher } from './shape-matcher.ts';

const ofDigits = allDetectors.filter(({ digit_profile: digits }) => digits !== undefined);

/** The same detectors without the fields that let a scan check a shape first. */
const plain = ofDigits.map(omitShapes);

function omitShapes(detector: Detector): Detector {
  const {
    digit_profile: _,
    validateDigits: __,
    ...rest
  } = Object.fromEntries(Object.entries(detector)) as unknown as Detector;
  return rest;
}

const shapedScanner = compileScanner(ofDigits);
const plainScanner = compileScanner(plain);

function findMatches(scanner: typeof shapedScanner, text: string): readonly string[] {
  const matches: Match[] = [];
  scanText(scanner, text, matches, 10_000);
  return matches.map(({ detector, start, end }) => `${detector.id} ${start}-${end}`).sort();
}

/** Valid values of the detectors, the same with some digits changed, and other contents of tables. */
const values = ofDigits.flatMap(({ examples }) =>
  examples.hits.flatMap((hit) => [...hit.matchAll(/«([^»]*)»/g)].map(([, value]) => value!)),
);
const digitsText = (least: number, most: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`));
const cell = fc.oneof(
  fc.constantFrom(...values),
  fc
    .tuple(fc.constantFrom(...values), fc.nat(40), fc.nat(9))
    .map(([value, at, digit]) =>
      value.replace(/\d/g, (was, from: number) => (from === at ? String(digit) : was)),
    ),
  fc
    .array(digitsText(1, 8), { minLength: 1, maxLength: 5 })
    .chain((groups) => fc.constantFrom(' ', '-', '.', '/', ' - ').map((between) => groups.join(between))),
  digitsText(6, 50),
  fc.constantFrom('A', 'x', '(', ')', 'é', '', '1', ' 1', 'FR', '-', '.5'),
);
const table = fc
  .array(fc.tuple(cell, fc.constantFrom(' ', '\t', ',', '\n', '', '-', '.', '"', ';')), { maxLength: 12 })
  .map((cells) => cells.flat().join(''));

test('what the shape of a text leaves is what the patterns find', () => {
  let matched = 0;
  fc.assert(
    fc.property(table, (text) => {
      const expected = findMatches(plainScanner, text);
      assert.deepEqual(findMatches(shapedScanner, text), expected);
      matched += expected.length;
    }),
    { numRuns: 3000 },
  );
  assert.ok(matched > 1000, `${matched} matches`);
});

test('evicting shapes in the middle of a text changes nothing, and their number is limited', () => {
  // A new scanner, so that it has shapes to learn.
  const freshScanner = compileScanner(ofDigits);
  const { rows } = freshScanner;
  let forgotten = 0;
  fc.assert(
    fc.property(table, fc.nat(20), (text, room) => {
      rows.count = SHAPES_MAX - room;
      assert.deepEqual(findMatches(freshScanner, text), findMatches(plainScanner, text));
      if (rows.count < SHAPES_MAX - room) forgotten += 1;
      assert.ok(rows.count <= SHAPES_MAX);
    }),
    { numRuns: 500 },
  );
  assert.ok(forgotten > 10, `${forgotten} times`);
});

test('a detector with a wrong digit profile loses matches', () => {
  const cpf = ofDigits.find(({ id }) => id === 'br.cpf')!;
  const digits: DigitProfile = { ...cpf.digit_profile!, digits_max: 10 };
  const text = `${cpf.examples.hits[0]!.replace(/[«»]/g, '')}\n`;
  const wrong = Object.create(cpf, { digit_profile: { value: digits } }) as Detector;
  assert.equal(findMatches(compileScanner([cpf]), text).length, 1);
  assert.equal(findMatches(compileScanner([wrong]), text.replace(/(?<=\d)[.-](?=\d)/g, '')).length, 0);
});

test('detectors that say what digits they have begin at their anchor, and find all that matches', () => {
  for (const { id, back, pattern } of ofDigits) {
    assert.equal(back, undefined, id);
    assert.ok(!pattern.source.includes('(?<value>'), id);
  }
  assert.ok(ofDigits.length > 90, `${ofDigits.length} detectors`);
});

const DIGITS: readonly (readonly [RegExp, Partial<DigitProfile>])[] = [
  [/\d{11}/, { digits_max: 11, plain_lengths: [11], other_kinds: 0, is_strict: true }],
  [/\d{3}\.?\d{2}/, { digits_max: 5, plain_lengths: [5], other_kinds: classifyUnit(46), is_strict: true }],
  [
    /(?:19|20)?\d{6}[-+]\d{4}/,
    { digits_max: 12, plain_lengths: [], other_kinds: classifyUnit(45) | classifyUnit(43) },
  ],
  [/\d{2}(?:ab)?(?=99)|[1-3]?\d/, { digits_max: 2, plain_lengths: [1, 2], other_kinds: classifyUnit(97) }],
  [/[13][1-9A-H]{25,34}/, { digits_max: 35, is_strict: false }],
  [/4(?:[ -]?\d){15}/, { digits_max: 16, plain_lengths: [16], is_strict: false }],
];

test('what digits a match has is read from the pattern', () => {
  for (const [pattern, expected] of DIGITS) {
    const digits = buildDigitProfile(pattern);
    for (const key of Object.keys(expected) as (keyof DigitProfile)[])
      assert.deepEqual(digits[key], expected[key], `${pattern}: ${key}`);
  }
  assert.equal(DIGITS.length, 6);
});

test('a shape says where a match can end, and whether more of the text would tell', () => {
  const fit = compileShapeMatcher(/\d{3} ?\d{2}(?:-\d)?/);
  const of = (text: string, isWhole: boolean) =>
    fit({ kinds: Array.from(text, (unit) => classifyUnit(unit.charCodeAt(0))), is_whole: isWhole });
  assert.deepEqual(of('00000', true), { ends: [5], is_open: false });
  assert.deepEqual(of('00000', false), { ends: [], is_open: true });
  assert.deepEqual(of('000 00,', false), { ends: [6], is_open: false });
  assert.deepEqual(of('000 00-0.', false), { ends: [6, 8], is_open: false });
  assert.deepEqual(of('000000', true), { ends: [], is_open: false });
  assert.deepEqual(of('00-', false), { ends: [], is_open: false });
});

test('addresses are routed where the library says so', () => {
  const { validate } = allDetectors.find(({ id }) => id === 'ip.v4')!;
  let routed = 0;
  for (let network = 0; network < 0x10000; network++) {
    const octets = [network >> 8, network & 255, (network * 7) & 255, 113];
    const expected = new ipaddr.IPv4(octets).range() === 'unicast';
    assert.equal(validate!(octets.join('.')), expected, octets.join('.'));
    routed += Number(expected);
  }
  assert.ok(routed > 50_000, `${routed} routed`);
});
