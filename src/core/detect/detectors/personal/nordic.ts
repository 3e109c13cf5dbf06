import { digitAt, hasDay, isDay, twoDigits, weigh } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { identifier } from '../../matching/identifier.ts';

const DASHED_DATE = '(?<![\\w.-])\\d{6}-\\d{3}';
const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people in Denmark, Finland, Iceland, Norway and Sweden: a birth date, a serial, check digits. */
export const nordic: readonly Detector[] = [
  ...identifier({
    id: 'dk.cpr',
    detector: 'national_id',
    description:
      'Danish CPR numbers: a birth date and a serial; alone only with a dash. Their sum (mod 11) is not kept since 2007.',
    value: '\\d{6}[ -]?\\d{4}',
    check: (code) => hasDay(code, 2, 0),
    alone: {
      anchors: [DASHED_DATE],
      value: '\\d{6}-\\d{4}',
    },
    names: ['cpr', 'cpr[ -]?nummer', 'personnummer'],
    right: ['211062-5629', '2110625629'],
    wrong: ['611062-5629', '211362-5629'],
  }),
  ...identifier({
    id: 'fi.hetu',
    detector: 'national_id',
    description:
      'Finnish personal identity codes: a birth date, a sign of the century, a serial and a letter (mod 31).',
    value: '\\d{6}[-+ABCDEFYXWVU]\\d{3}[0-9A-FHJ-NPR-Y]',
    check: isHetu,
    alone: { anchors: ['(?i)(?<![\\w.-])\\d{6}[-+a-z]\\d{3}'] },
    names: ['hetu', 'henkil[öo]tunnu[a-z]{0,3}', 'personal identity code', 'personbeteckning'],
    right: ['131052-308T', '131002a3110'],
    wrong: ['131052-308U', '321052-308T'],
  }),
  ...identifier({
    id: 'is.kennitala',
    detector: 'national_id',
    description:
      'Icelandic kennitala: a date (of companies with 40 added to the day), a serial, a check digit (mod 11).',
    value: '\\d{6}[ -]?\\d{4}',
    check: isKennitala,
    alone: { anchors: [DASHED_DATE], value: '\\d{6}-\\d{4}' },
    names: ['kennitala', 'kennitölu'],
    right: ['450401-3150', '1207743010'],
    wrong: ['450401-3160', '991301-3150'],
  }),
  ...identifier({
    id: 'no.fnr',
    detector: 'national_id',
    description: 'Norwegian birth numbers and D-numbers: a date, a serial and two check digits (mod 11).',
    value: '\\d{6}[ -]?\\d{5}',
    check: isFodselsnummer,
    alone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{6} \\d{4}'] },
    names: ['f[øo]dselsnummer', 'personnummer', 'fnr', 'birth number', 'd-nummer'],
    right: ['15108695088', '151086 95088'],
    wrong: ['15108695077', '45138695088'],
  }),
  ...identifier({
    id: 'se.personnummer',
    detector: 'national_id',
    description: 'Swedish personal and coordination numbers: a birth date, a serial and a Luhn digit.',
    value: '(?:19|20)?\\d{6}[-+ ]?\\d{4}',
    check: isPersonnummer,
    alone: {
      anchors: ['(?<![\\w.-])\\d{8}', '(?<![\\w.-])\\d{6}[+-]\\d{3}'],
      value: '(?:19|20)\\d{6}[-+]?\\d{4}|\\d{6}[-+]\\d{4}',
    },
    names: ['personnummer', 'samordningsnummer', 'swedish personal number', 'personal identity number'],
    right: ['811218-9876', '19811218-9876', '8112189876'],
    wrong: ['811218-9875', '811318-9876'],
  }),
  ...identifier({
    id: 'se.orgnr',
    detector: 'business_id',
    severity: 'low',
    description: 'Swedish organisation numbers with a Luhn digit.',
    value: '\\d{6}-?\\d{4}',
    check: (code) => isLuhn(code) && digitAt(code, 2) >= 2,
    names: ['organisationsnummer', 'org\\.?[ -]?nr', 'organisation number'],
    right: ['556703-7485', '5567037485'],
    wrong: ['556703-7486', '550103-7485'],
  }),
  ...identifier({
    id: 'no.orgnr',
    detector: 'business_id',
    severity: 'low',
    description: 'Norwegian organisation numbers with a check digit (mod 11).',
    value: '[89]\\d{2} ?\\d{3} ?\\d{3}',
    check: (code) => weigh(code, [3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
    names: ['organisasjonsnummer', 'orgnr'],
    right: ['974760673', '974 760 673'],
    wrong: ['974760674', '174760673'],
  }),
  ...identifier({
    id: 'fi.ytunnus',
    detector: 'business_id',
    severity: 'low',
    description: 'Finnish business identities with a check digit (mod 11).',
    value: '\\d{7}-?\\d',
    check: (code) => weigh(code, [7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 0,
    names: ['y-tunnus', 'business id', 'fo-nummer'],
    right: ['2077474-0', '20774740'],
    wrong: ['2077474-1', '2077474-2'],
  }),
  ...identifier({
    id: 'dk.cvr',
    detector: 'business_id',
    severity: 'low',
    description: 'Danish company numbers with a check digit (mod 11).',
    value: '[1-9]\\d{7}',
    check: (code) => weigh(code, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
    names: ['cvr', 'cvr[ -]?nummer'],
    right: ['13585628'],
    wrong: ['13585629', '03585628'],
  }),
];

const HETU_LETTERS = '0123456789ABCDEFHJKLMNPRSTUVWXY';

function isHetu(_: string, written: string): boolean {
  const digits = written.slice(0, 6) + written.slice(7, 10);
  return hasDay(digits, 2, 0) && HETU_LETTERS[Number(digits) % 31] === written[10]!.toUpperCase();
}

function isKennitala(code: string): boolean {
  const day = twoDigits(code, 0);
  if (!isDay(twoDigits(code, 2), day > 40 ? day - 40 : day) || !'890'.includes(code[9]!)) return false;
  return weigh(code, [3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
}

function isFodselsnummer(code: string): boolean {
  const day = twoDigits(code, 0) % 40;
  const month = twoDigits(code, 2) % 40;
  if (!isDay(month, day)) return false;
  const is_first_right = weigh(code, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0;
  return is_first_right && weigh(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
}

function isPersonnummer(code: string): boolean {
  const digits = code.replace('+', '').slice(-10);
  const day = twoDigits(digits, 4);
  return isDay(twoDigits(digits, 2), day > 60 ? day - 60 : day) && isLuhn(digits);
}
