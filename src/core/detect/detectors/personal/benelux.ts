import {
  computeRemainder,
  hasValidDay,
  hasVariedCharacters,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people and companies in Belgium, the Netherlands and Luxembourg. */
export const benelux: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'be.nn',
    detector: 'national_id',
    description: 'Belgian national numbers: a birth date, a serial and two check digits (mod 97).',
    value: '\\d{2}[. ]?\\d{2}[. ]?\\d{2}[- ]?\\d{3}[. ]?\\d{2}',
    check: isRijksregister,
    standalone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{2}\\.\\d{2}\\.\\d{2}-\\d'] },
    names: [
      'rijksregister',
      'rijksregisternummer',
      'num[ée]ro national',
      'registre national',
      'nationaal nummer',
      'insz',
      'niss',
    ],
    valid: ['85.07.30-033 28', '85073003328'],
    invalid: ['85073003329', '85133003328'],
  }),
  ...buildIdentifierDetectors({
    id: 'be.enterprise',
    detector: 'business_id',
    severity: 'low',
    description: 'Belgian enterprise numbers with two check digits (mod 97).',
    value: '[01]\\d{3}\\.?\\d{3}\\.?\\d{3}',
    check: (code) => computeRemainder(code.slice(0, 8), 97) + Number(code.slice(8)) === 97,
    names: ['ondernemingsnummer', "num[ée]ro d'entreprise", 'kbo', 'bce'],
    valid: ['0403.019.261', '0403019261'],
    invalid: ['0403.019.262', '0403.019.361'],
  }),
  ...buildIdentifierDetectors({
    id: 'nl.bsn',
    detector: 'national_id',
    description: 'Dutch citizen service numbers (the 11-test).',
    value: '\\d{8,9}|\\d{4}\\.\\d{2}\\.\\d{3}',
    check: (code) =>
      sumWeighted(code.padStart(9, '0'), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 &&
      hasVariedCharacters(code),
    names: ['bsn', 'burgerservicenummer', 'sofinummer', 'sofi-nummer', 'citizen service'],
    valid: ['111222333', '1112.22.333'],
    invalid: ['111222334', '999999999'],
  }),
  ...buildIdentifierDetectors({
    id: 'nl.identity_document',
    detector: 'national_id',
    description:
      'Numbers of Dutch passports and identity cards: two letters, six letters or digits, a digit.',
    value: '[A-NP-Z]{2}[A-NP-Z0-9]{6}\\d',
    names: ['paspoortnummer', 'identiteitskaart', 'documentnummer'],
    valid: ['SPECI2014'],
    invalid: ['SPECI201', 'OOECI2014'],
  }),
  ...buildIdentifierDetectors({
    id: 'lu.matricule',
    detector: 'national_id',
    description: 'Luxembourg identification numbers: a birth date, a serial, a Luhn and a Verhoeff digit.',
    value: '(?:18|19|20)\\d{11}',
    check: (code) => hasValidDay(code, 4, 6) && isLuhn(code.slice(0, 12)),
    standalone: { anchors: [LONG_NUMBER] },
    names: ['matricule', "num[ée]ro d'identification national"],
    valid: ['1893120105732'],
    invalid: ['1893120105742', '1893130105732'],
  }),
];

/**
 * Returns whether a code is a national register number. For births from 2000 on, the check digits are calculated with
 * a 2 before the number.
 */
function isRijksregister(code: string): boolean {
  const month = parseTwoDigits(code, 2) % 20;
  if (month > 12 || parseTwoDigits(code, 4) > 31 || !hasVariedCharacters(code)) return false;
  const check = parseTwoDigits(code, 9);
  const body = code.slice(0, 9);
  return 97 - computeRemainder(body, 97) === check || 97 - computeRemainder(`2${body}`, 97) === check;
}
