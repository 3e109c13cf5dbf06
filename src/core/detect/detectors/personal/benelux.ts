import {
  computeRemainder,
  hasValidDay,
  hasVariedCharacters,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import { isLuhn, isMod97 } from '../../matching/checksums.ts';
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
  ...buildIdentifierDetectors({
    id: 'be.eid',
    detector: 'national_id',
    description: 'Numbers of Belgian identity cards: ten digits and two check digits (mod 97).',
    value: '\\d{3}-?\\d{7}-?\\d{2}',
    check: (code) => (computeRemainder(code.slice(0, 10), 97) || 97) === Number(code.slice(10)),
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{7}-\\d'], value: '\\d{3}-\\d{7}-\\d{2}' },
    names: ['identiteitskaart', 'eid', "carte d'identit[ée]", 'kaartnummer'],
    valid: ['591-1917064-58', '591191706458'],
    invalid: ['591-1917064-59', '591-191706-58'],
  }),
  ...buildIdentifierDetectors({
    id: 'lu.tva',
    detector: 'vat_id',
    severity: 'low',
    description: 'Luxembourg VAT numbers: six digits and two check digits (mod 89).',
    value: 'LU ?\\d{3} ?\\d{3} ?\\d{2}',
    check: (code) => computeRemainder(code.slice(2, 8), 89) === Number(code.slice(8)),
    standalone: { anchors: ['(?<![\\w.-])LU ?\\d{3}'] },
    names: ['tva', 'num[ée]ro tva'],
    valid: ['LU15027442', 'LU 150 274 42'],
    invalid: ['LU15027443', 'LU1502744'],
  }),
  ...buildIdentifierDetectors({
    id: 'nl.btw',
    detector: 'vat_id',
    severity: 'low',
    description:
      'Dutch VAT numbers: nine digits, B and two digits, with the 11-test or check digits (mod 97).',
    value: 'NL ?\\d{9}B\\d{2}',
    check: (code) => isMod97(code.slice(-4) + code.slice(0, -4)) || isElfproef(code.slice(2, 11)),
    standalone: { anchors: ['(?<![\\w.-])NL ?\\d{6}'] },
    names: ['btw', 'btw-nummer', 'btw-id'],
    valid: ['NL004495445B01'],
    invalid: ['NL004495446B01', 'NL00449544B01'],
  }),
  ...buildIdentifierDetectors({
    id: 'nl.onderwijsnummer',
    detector: 'national_id',
    description: 'Dutch numbers of pupils: 10, a serial and a check digit (the 11-test, with 5 left).',
    value: '10\\d{7}',
    names: ['onderwijsnummer', 'pgn'],
    valid: ['101222331'],
    invalid: ['100252333', '10122233'],
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

function isElfproef(code: string): boolean {
  return sumWeighted(code, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}
