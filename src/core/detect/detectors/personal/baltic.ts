import {
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  readDigit,
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
    check: (code) => hasValidDay(code, 3, 5),
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
    names: ['registrikood', 'registry code'],
    valid: ['12345678'],
    invalid: ['12345679', '02345678'],
  }),
  ...buildIdentifierDetectors({
    id: 'ee.kmkr',
    detector: 'vat_id',
    severity: 'low',
    description: 'Estonian VAT numbers with a check digit (weights 3, 7, 1).',
    value: '(?:EE ?)?10\\d{7}',
    names: ['kmkr', 'kmkr number', 'k[äa]ibemaksukohustuslas[a-z]{1,4}'],
    valid: ['100931558', 'EE100931558'],
    invalid: ['100594103', '10093155'],
  }),
  ...buildIdentifierDetectors({
    id: 'lt.pvm',
    detector: 'vat_id',
    severity: 'low',
    description: 'Lithuanian VAT numbers: nine digits or twelve, with a check digit (mod 11, twice).',
    value: '(?:LT ?)?(?:\\d{7}1\\d|\\d{10}1\\d)',
    names: ['pvm kodas', 'pvm mok[ėe]tojo kodas', 'pvm'],
    check: (code) => isLithuanianVat(code.replace('LT', '')),
    valid: ['119511515', 'LT119511515', '100001919017'],
    invalid: ['100001919018', '11951151'],
  }),
  ...buildIdentifierDetectors({
    id: 'lv.pvn',
    detector: 'vat_id',
    severity: 'low',
    description: 'Latvian VAT numbers of companies: eleven digits with a check digit (mod 11).',
    value: '(?:LV ?)?[4-9]\\d{10}',
    names: ['pvn', 'pvn numurs', 're[ģg]istr[āa]cijas num[a-z]{1,3}'],
    valid: ['40003521600', 'LV40003521600'],
    invalid: ['40003521601', '4000352160'],
  }),
];

function isPersonasKods(code: string): boolean {
  if (code.startsWith('32')) return true;
  if (!isValidDay(parseTwoDigits(code, 2), parseTwoDigits(code, 0)) || readDigit(code, 6) > 2) return false;
  return ((1101 - sumWeighted(code, [1, 6, 3, 7, 9, 10, 5, 8, 4, 2])) % 11) % 10 === readDigit(code, 10);
}

/** Returns whether a VAT number is right. The weights count up to 9 and start again, in a second row from 3. */
function isLithuanianVat(code: string): boolean {
  const body = code.slice(0, -1);
  const weigh = (first: number): number =>
    sumWeighted(
      body,
      Array.from(body, (_, at) => 1 + ((at + first) % 9)),
    ) % 11;
  const rest = weigh(0);
  return (rest < 10 ? rest : weigh(2) % 10) === readDigit(code, -1) && hasVariedCharacters(code);
}
