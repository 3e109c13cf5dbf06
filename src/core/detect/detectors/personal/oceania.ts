import { hasVariedCharacters, readDigit, sumWeighted } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people, companies and accounts in Australia and New Zealand. */
export const oceania: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'au.tfn',
    detector: 'tax_id',
    description: 'Australian tax file numbers with a check digit (mod 11).',
    value: '\\d{3} ?\\d{3} ?\\d{2,3}',
    check: (code) =>
      sumWeighted(code, code.length === 9 ? [1, 4, 3, 7, 5, 8, 6, 9, 10] : [10, 7, 8, 4, 6, 3, 5, 1]) % 11 ===
        0 && hasVariedCharacters(code),
    names: ['tfn', 'tax file', 'tax file number'],
    valid: ['123 456 782', '123456782'],
    invalid: ['123 456 783', '123 456'],
  }),
  ...buildIdentifierDetectors({
    id: 'au.abn',
    detector: 'business_id',
    severity: 'low',
    description: 'Australian business numbers with two check digits (mod 89); alone only in their groups.',
    value: '[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}',
    standalone: { anchors: ['(?<![\\w.-])\\d{2} \\d{3} \\d{3}'], value: '[1-9]\\d \\d{3} \\d{3} \\d{3}' },
    names: ['abn', 'australian business number'],
    valid: ['83 914 571 673', '83914571673'],
    invalid: ['83 914 571 674', '03 914 571 673'],
  }),
  ...buildIdentifierDetectors({
    id: 'au.acn',
    detector: 'business_id',
    severity: 'low',
    description: 'Australian company numbers with a check digit (mod 10).',
    value: '\\d{3} ?\\d{3} ?\\d{3}',
    names: ['acn', 'australian company number'],
    valid: ['004 085 616', '004085616'],
    invalid: ['004 085 617', '004 085'],
  }),
  ...buildIdentifierDetectors({
    id: 'au.medicare',
    detector: 'health_id',
    description: 'Australian Medicare numbers: 2 to 6, a serial, a check digit and an issue.',
    value: '[2-6]\\d{3} ?\\d{5} ?\\d(?:[ /-]?\\d)?',
    standalone: { anchors: ['(?<![\\w.-])\\d{4} \\d{5}'], value: '[2-6]\\d{3} \\d{5} \\d' },
    names: ['medicare', 'medicare card', 'medicare no'],
    valid: ['2123 45670 1', '2123456701'],
    invalid: ['2123 45671 1', '1123 45670 1'],
  }),
  ...buildIdentifierDetectors({
    id: 'au.bsb',
    detector: 'bank_account',
    description: 'Australian bank and branch codes, with the account number where it follows.',
    value: '\\d{3}-?\\d{3}(?:[ ,;]{1,3}(?:(?:account|acc)(?: no\\.?| number)?:? )?\\d{6,10})?',
    names: ['bsb'],
    valid: ['062-000', '062000 12345678'],
    invalid: ['06200', '06-2000'],
  }),
  ...buildIdentifierDetectors({
    id: 'nz.ird',
    detector: 'tax_id',
    description: 'New Zealand tax numbers (IRD) with a check digit (mod 11, twice).',
    value: '(?:NZ ?)?(?:\\d{2,3}[- ]?\\d{3}[- ]?\\d{3}|\\d{7,8}-\\d)',
    check: (code) => isIrd(code.replace('NZ', '')),
    standalone: {
      anchors: ['(?<![\\w.-])\\d{2,3}-\\d{3}-\\d', '(?<![\\w.-])\\d{7}-\\d', '(?<![\\w.-])\\d{8}-\\d'],
      value: '\\d{2,3}-\\d{3}-\\d{3}|\\d{7,8}-\\d',
    },
    names: ['ird', 'ird number', 'inland revenue'],
    valid: ['49-091-850', '049091850'],
    invalid: ['49-091-851', '49-091'],
  }),
  ...buildIdentifierDetectors({
    id: 'nz.bank_account',
    detector: 'bank_account',
    description: 'New Zealand account numbers: bank, branch, account and suffix.',
    value: '\\d{2}[- ]?\\d{4}[- ]?\\d{7}[- ]?\\d{2,3}',
    check: (code) => Number(code.slice(0, 2)) <= 38,
    names: ['nz bank account', 'bank account', 'account number'],
    standalone: {
      anchors: ['(?<![\\w.-])\\d{2}-\\d{4}-\\d'],
      value: '[0-3]\\d-[0-4]\\d{3}-\\d{7}-\\d{2,3}',
    },
    valid: ['01-0242-0100194-00', '0102420100194000'],
    invalid: ['81-0242-0100194-00', '01-0242-010019-00'],
  }),
  ...buildIdentifierDetectors({
    id: 'nz.nhi',
    detector: 'health_id',
    description:
      'New Zealand health numbers (NHI): three letters and four digits with a check (mod 11), or the newer form.',
    value: '[A-HJ-NP-Z]{3}(?:\\d{4}|\\d{2}[A-HJ-NP-Z]{2})',
    names: ['nhi', 'nhi number', 'national health index'],
    check: (code) => isNhi(code),
    valid: ['ZAC5361', 'ZZZ0016'],
    invalid: ['ZAC5362', 'ZAC536'],
  }),
];

function isIrd(digits: string): boolean {
  const number = Number(digits);
  return number > 10_000_000 && number < 150_000_000;
}

const NHI_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

/**
 * Returns whether a code is an NHI number. The newer form has a check letter, which this function does not verify.
 */
function isNhi(code: string): boolean {
  if (/[A-Z]$/.test(code)) return true;
  const letters = Array.from(code.slice(0, 3)).reduce(
    (sum, letter, at) => sum + (NHI_LETTERS.indexOf(letter) + 1) * (7 - at),
    0,
  );
  const rest = (letters + sumWeighted(code.slice(3), [4, 3, 2])) % 11;
  return rest !== 0 && (11 - rest) % 10 === readDigit(code, 6);
}
