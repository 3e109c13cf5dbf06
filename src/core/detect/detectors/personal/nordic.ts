import {
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  readDigit,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const DASHED_DATE = '(?<![\\w.-])\\d{6}-\\d{3}';
const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/**
 * Personal identity numbers in Denmark, Finland, Iceland, Norway and Sweden: a birth date, a serial and check digits.
 */
export const nordic: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'dk.cpr',
    detector: 'national_id',
    description:
      'Danish CPR numbers: a birth date and a serial; alone only with a dash. Their sum (mod 11) is not kept since 2007.',
    value: '\\d{6}[ -]?\\d{4}',
    check: (code) => hasValidDay(code, 2, 0),
    standalone: {
      anchors: [DASHED_DATE],
      value: '\\d{6}-\\d{4}',
    },
    names: ['cpr', 'cpr[ -]?nummer', 'personnummer'],
    valid: ['211062-5629', '2110625629'],
    invalid: ['611062-5629', '211362-5629'],
  }),
  ...buildIdentifierDetectors({
    id: 'fi.hetu',
    detector: 'national_id',
    description:
      'Finnish personal identity codes: a birth date, a sign of the century, a serial and a letter (mod 31).',
    value: '\\d{6}[-+ABCDEFYXWVU]\\d{3}[0-9A-FHJ-NPR-Y]',
    check: isHetu,
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d{6}[-+a-z]\\d{3}'] },
    names: ['hetu', 'henkil[öo]tunnu[a-z]{0,3}', 'personal identity code', 'personbeteckning'],
    valid: ['131052-308T', '131002a3110'],
    invalid: ['131052-308U', '321052-308T'],
  }),
  ...buildIdentifierDetectors({
    id: 'is.kennitala',
    detector: 'national_id',
    description:
      'Icelandic kennitala: a date (of companies with 40 added to the day), a serial, a check digit (mod 11).',
    value: '\\d{6}[ -]?\\d{4}',
    check: isKennitala,
    standalone: { anchors: [DASHED_DATE], value: '\\d{6}-\\d{4}' },
    names: ['kennitala', 'kennitölu'],
    valid: ['450401-3150', '1207743010'],
    invalid: ['450401-3160', '991301-3150'],
  }),
  ...buildIdentifierDetectors({
    id: 'no.fnr',
    detector: 'national_id',
    description: 'Norwegian birth numbers and D-numbers: a date, a serial and two check digits (mod 11).',
    value: '\\d{6}[ -]?\\d{5}',
    check: isFodselsnummer,
    standalone: { anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{6} \\d{4}'] },
    names: ['f[øo]dselsnummer', 'personnummer', 'fnr', 'birth number', 'd-nummer'],
    valid: ['15108695088', '151086 95088'],
    invalid: ['15108695077', '45138695088'],
  }),
  ...buildIdentifierDetectors({
    id: 'se.personnummer',
    detector: 'national_id',
    description: 'Swedish personal and coordination numbers: a birth date, a serial and a Luhn digit.',
    value: '(?:19|20)?\\d{6}[-+ ]?\\d{4}',
    check: isPersonnummer,
    standalone: {
      anchors: ['(?<![\\w.-])\\d{8}', '(?<![\\w.-])\\d{6}[+-]\\d{3}'],
      value: '(?:19|20)\\d{6}[-+]?\\d{4}|\\d{6}[-+]\\d{4}',
    },
    names: ['personnummer', 'samordningsnummer', 'swedish personal number', 'personal identity number'],
    valid: ['811218-9876', '19811218-9876', '8112189876'],
    invalid: ['811218-9875', '811318-9876'],
  }),
  ...buildIdentifierDetectors({
    id: 'se.orgnr',
    detector: 'business_id',
    severity: 'low',
    description: 'Swedish organisation numbers with a Luhn digit.',
    value: '\\d{6}-?\\d{4}',
    check: (code) => readDigit(code, 2) >= 2,
    names: ['organisationsnummer', 'org\\.?[ -]?nr', 'organisation number'],
    valid: ['556703-7485', '5567037485'],
    invalid: ['556703-7486', '550103-7485'],
  }),
  ...buildIdentifierDetectors({
    id: 'no.orgnr',
    detector: 'business_id',
    severity: 'low',
    description: 'Norwegian organisation numbers with a check digit (mod 11).',
    value: '[89]\\d{2} ?\\d{3} ?\\d{3}',
    names: ['organisasjonsnummer', 'orgnr'],
    valid: ['974760673', '974 760 673'],
    invalid: ['974760674', '174760673'],
  }),
  ...buildIdentifierDetectors({
    id: 'fi.ytunnus',
    detector: 'business_id',
    severity: 'low',
    description: 'Finnish business identities with a check digit (mod 11).',
    value: '\\d{7}-?\\d',
    names: ['y-tunnus', 'business id', 'fo-nummer'],
    valid: ['2077474-0', '20774740'],
    invalid: ['2077474-1', '2077474-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'dk.cvr',
    detector: 'business_id',
    severity: 'low',
    description: 'Danish company numbers with a check digit (mod 11).',
    value: '[1-9]\\d{7}',
    names: ['cvr', 'cvr[ -]?nummer'],
    valid: ['13585628'],
    invalid: ['13585629', '03585628'],
  }),
  ...buildIdentifierDetectors({
    id: 'fo.p_tal',
    detector: 'national_id',
    description: 'Faroese personal numbers (P-tal): a birth date and a serial.',
    value: '\\d{6}-?\\d{3}',
    check: (code) => hasValidDay(code, 2, 0),
    names: ['p-tal', 'ptal'],
    valid: ['150590-123', '150590123'],
    invalid: ['159990-123', '150590-12'],
  }),
  ...buildIdentifierDetectors({
    id: 'fi.veronumero',
    detector: 'tax_id',
    description: 'Finnish tax numbers of builders and shipyard workers: twelve digits.',
    value: '\\d{12}',
    check: hasVariedCharacters,
    names: ['veronumero', 'skattenummer'],
    valid: ['123456789123'],
    invalid: ['12345678912', '111111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'no.kontonr',
    detector: 'bank_account',
    description: 'Norwegian account numbers: bank, group, serial and a check digit (mod 11).',
    value: '\\d{4}[. ]?\\d{2}[. ]?\\d{5}',
    standalone: { anchors: ['(?<![\\w.-])\\d{4}\\.\\d{2}\\.\\d{5}'], value: '\\d{4}\\.\\d{2}\\.\\d{5}' },
    names: ['kontonummer', 'kontonr', 'bankkonto'],
    valid: ['8601.11.17947', '8601 11 17947', '86011117947'],
    invalid: ['8601.11.17949', '8601.11.1794'],
  }),
];

const HETU_LETTERS = '0123456789ABCDEFHJKLMNPRSTUVWXY';

function isHetu(_: string, written: string): boolean {
  const digits = written.slice(0, 6) + written.slice(7, 10);
  return hasValidDay(digits, 2, 0) && HETU_LETTERS[Number(digits) % 31] === written[10]!.toUpperCase();
}

function isKennitala(code: string): boolean {
  const day = parseTwoDigits(code, 0);
  return isValidDay(parseTwoDigits(code, 2), day > 40 ? day - 40 : day) && '890'.includes(code[9]!);
}

function isFodselsnummer(code: string): boolean {
  return isValidDay(parseTwoDigits(code, 2) % 40, parseTwoDigits(code, 0) % 40);
}

function isPersonnummer(code: string): boolean {
  const digits = code.replace('+', '').slice(-10);
  const day = parseTwoDigits(digits, 4);
  return isValidDay(parseTwoDigits(digits, 2), day > 60 ? day - 60 : day) && isLuhn(digits);
}
