import { hasDay, isVaried, remainder, twoDigits, weigh } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { identifier } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people and companies in Belgium, the Netherlands and Luxembourg. */
export const benelux: readonly Detector[] = [
  ...identifier({
    id: 'be.nn',
    detector: 'national_id',
    description: 'Belgian national numbers: a birth date, a serial and two check digits (mod 97).',
    value: '\\d{2}[. ]?\\d{2}[. ]?\\d{2}[- ]?\\d{3}[. ]?\\d{2}',
    check: isRijksregister,
    alone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{2}\\.\\d{2}\\.\\d{2}-\\d'] },
    names: [
      'rijksregister',
      'rijksregisternummer',
      'num[ée]ro national',
      'registre national',
      'nationaal nummer',
      'insz',
      'niss',
    ],
    right: ['85.07.30-033 28', '85073003328'],
    wrong: ['85073003329', '85133003328'],
  }),
  ...identifier({
    id: 'be.enterprise',
    detector: 'business_id',
    severity: 'low',
    description: 'Belgian enterprise numbers with two check digits (mod 97).',
    value: '[01]\\d{3}\\.?\\d{3}\\.?\\d{3}',
    check: (code) => remainder(code.slice(0, 8), 97) + Number(code.slice(8)) === 97,
    names: ['ondernemingsnummer', "num[ée]ro d'entreprise", 'kbo', 'bce'],
    right: ['0403.019.261', '0403019261'],
    wrong: ['0403.019.262', '0403.019.361'],
  }),
  ...identifier({
    id: 'nl.bsn',
    detector: 'national_id',
    description: 'Dutch citizen service numbers (the 11-test).',
    value: '\\d{8,9}|\\d{4}\\.\\d{2}\\.\\d{3}',
    check: (code) => weigh(code.padStart(9, '0'), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && isVaried(code),
    names: ['bsn', 'burgerservicenummer', 'sofinummer', 'sofi-nummer', 'citizen service'],
    right: ['111222333', '1112.22.333'],
    wrong: ['111222334', '999999999'],
  }),
  ...identifier({
    id: 'nl.identity_document',
    detector: 'national_id',
    description:
      'Numbers of Dutch passports and identity cards: two letters, six letters or digits, a digit.',
    value: '[A-NP-Z]{2}[A-NP-Z0-9]{6}\\d',
    names: ['paspoortnummer', 'identiteitskaart', 'documentnummer'],
    right: ['SPECI2014'],
    wrong: ['SPECI201', 'OOECI2014'],
  }),
  ...identifier({
    id: 'lu.matricule',
    detector: 'national_id',
    description: 'Luxembourg identification numbers: a birth date, a serial, a Luhn and a Verhoeff digit.',
    value: '(?:18|19|20)\\d{11}',
    check: (code) => hasDay(code, 4, 6) && isLuhn(code.slice(0, 12)),
    alone: { anchors: [LONG_NUMBER] },
    names: ['matricule', "num[ée]ro d'identification national"],
    right: ['1893120105732'],
    wrong: ['1893120105742', '1893130105732'],
  }),
];

/** For births from 2000 on, the check digits are calculated with a 2 before the number. */
function isRijksregister(code: string): boolean {
  const month = twoDigits(code, 2) % 20;
  if (month > 12 || twoDigits(code, 4) > 31 || !isVaried(code)) return false;
  const check = twoDigits(code, 9);
  const body = code.slice(0, 9);
  return 97 - remainder(body, 97) === check || 97 - remainder(`2${body}`, 97) === check;
}
