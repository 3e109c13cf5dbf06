import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeOutDecimal } from './plain-decimal.ts';

test('a number is written out up to 40 digits', () => {
  const cases: readonly (readonly [
    whole: string,
    fraction: string,
    exponent: number,
    written: string | null,
  ])[] = [
    ['4', '1', 3, '4100'],
    ['1', '50', 0, '1.5'],
    ['007', '', 0, '7'],
    ['1', '', -3, '0.001'],
    ['120', '', -1, '12'],
    ['0', '000', 5, '0'],
    ['1', '', 40, `1${'0'.repeat(40)}`],
    ['1', '', 41, null],
    ['1', '', -41, null],
    ['1'.repeat(40), '', 0, '1'.repeat(40)],
    ['1'.repeat(40), '1', 0, null],
  ];
  for (const [whole, fraction, exponent, written] of cases)
    assert.equal(writeOutDecimal(whole, fraction, exponent), written, `${whole}.${fraction}e${exponent}`);
  assert.equal(cases.length, 11);
});
