import {
  digitAt,
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Personal identity numbers in Estonia, Latvia and Lithuania: a birth date, a serial and a check digit. */
export const baltic: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'ee.isikukood',
    detector: 'national_id',
    description:
      'Estonian and Lithuanian personal codes: century, birth date, serial and a check digit (mod 11, twice).',
    value: '[1-6]\\d{10}',
    check: isPersonalCode,
    standalone: { anchors: [LONG_NUMBER] },
    names: ['isikukood', 'asmens kod[a-z]{0,2}', 'personal code', 'personal identification code', 'ik'],
    valid: ['37605030299', '38703181745'],
    invalid: ['37605030291', '37613030299'],
  }),
  ...buildIdentifierDetectors({
    id: 'lv.personas_kods',
    detector: 'national_id',
    description: 'Latvian personal codes: a birth date and a check digit, or 32 and a number without one.',
    value: '\\d{6}-?\\d{5}',
    check: isPersonasKods,
    standalone: { anchors: ['(?<![\\w.-])\\d{6}-\\d{3}'], value: '\\d{6}-\\d{5}' },
    names: ['personas kod[a-zāuū]{0,2}', 'latvian personal code'],
    valid: ['161175-19997', '16117519997'],
    invalid: ['161175-19998', '161375-19997'],
  }),
  ...buildIdentifierDetectors({
    id: 'ee.registrikood',
    detector: 'business_id',
    severity: 'low',
    description: 'Estonian company codes with a check digit (mod 11, twice).',
    value: '[1-9]\\d{7}',
    check: (code) =>
      twoPass(code, [1, 2, 3, 4, 5, 6, 7], [3, 4, 5, 6, 7, 8, 9]) === digitAt(code, 7) &&
      hasVariedCharacters(code),
    names: ['registrikood', 'registry code'],
    valid: ['12345678'],
    invalid: ['12345679', '02345678'],
  }),
];

function isPersonalCode(code: string): boolean {
  if (!hasValidDay(code, 3, 5)) return false;
  return twoPass(code, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1], [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) === digitAt(code, 10);
}

/** Computes a check digit. The second weights apply if the first leave no single digit. */
function twoPass(code: string, first: readonly number[], second: readonly number[]): number {
  const rest = sumWeighted(code, first) % 11;
  return rest < 10 ? rest : (sumWeighted(code, second) % 11) % 10;
}

function isPersonasKods(code: string): boolean {
  if (code.startsWith('32')) return true;
  if (!isValidDay(parseTwoDigits(code, 2), parseTwoDigits(code, 0)) || digitAt(code, 6) > 2) return false;
  return ((1101 - sumWeighted(code, [1, 6, 3, 7, 9, 10, 5, 8, 4, 2])) % 11) % 10 === digitAt(code, 10);
}
