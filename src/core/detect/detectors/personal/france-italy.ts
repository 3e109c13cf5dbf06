import {
  computeRemainder,
  hasVariedCharacters,
  parseTwoDigits,
  readDigit,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people and companies in France, Monaco and Italy. */
export const franceItaly: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'fr.nir',
    detector: 'national_id',
    description:
      'French social security numbers (NIR): sex, month, place, serial and two check digits (mod 97).',
    value: '[1-478] ?\\d{2} ?\\d{2} ?\\d[\\dAB] ?\\d{3} ?\\d{3} ?\\d{2}',
    check: isNir,
    standalone: { anchors: ['(?<![\\w.-])\\d{8}', '(?<![\\w.-])\\d \\d{2} \\d{2} \\d'] },
    names: ['nir', 's[ée]curit[ée] sociale', 'num[ée]ro de s[ée]cu', 'insee'],
    valid: ['2 95 10 99 126 111 93', '295109912611193', '253072B07300470'],
    invalid: ['295109912611199', '995109912611193'],
  }),
  ...buildIdentifierDetectors({
    id: 'fr.spi',
    detector: 'tax_id',
    description:
      'French tax numbers (SPI): thirteen digits, the last three being the rest of the others (mod 511).',
    value: '[0-3]\\d ?\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}',
    check: (code) => computeRemainder(code.slice(0, 10), 511) === Number(code.slice(10)),
    standalone: { anchors: ['(?<![\\w.-])\\d{2} \\d{2} \\d{3}', '(?<![\\w.-])\\d{8}'] },
    names: ['num[ée]ro fiscal', 'spi', 'identifiant fiscal'],
    valid: ['30 23 217 600 053', '3023217600053'],
    invalid: ['3023217600054', '4023217600053'],
  }),
  ...buildIdentifierDetectors({
    id: 'fr.siren',
    detector: 'business_id',
    severity: 'low',
    description: 'French company numbers (SIREN, SIRET) with a Luhn digit.',
    value: '\\d{3} ?\\d{3} ?\\d{3}(?: ?\\d{5})?',
    names: ['siren', 'siret'],
    valid: ['732 829 320', '73282932000074'],
    invalid: ['732829321', '73282932000075'],
  }),
  ...buildIdentifierDetectors({
    id: 'fr.vat',
    detector: 'vat_id',
    severity: 'low',
    description:
      'French VAT numbers: two check characters (mod 97 for digits, mod 11 with letters) before a SIREN.',
    value: '(?:FR ?)?[0-9A-HJ-NP-Z]{2} ?\\d{3} ?\\d{3} ?\\d{3}',
    check: isFrenchVat,
    standalone: {
      anchors: [
        '(?i)(?<![\\w.-])[a-z]\\d{8}',
        '(?i)(?<![\\w.-])\\d[a-z]\\d{8}',
        '(?<![\\w.-])FR ?[A-Z0-9]{2} ?\\d{3}',
      ],
      value: 'FR ?[0-9A-HJ-NP-Z]{2} ?\\d{3} ?\\d{3} ?\\d{3}|(?:\\d[A-HJ-NP-Z]|[A-HJ-NP-Z]\\d)\\d{9}',
    },
    names: ['tva', 'tva intracommunautaire', 'num[ée]ro de tva'],
    valid: ['4Z123456782', 'FR 40 303 265 045'],
    invalid: ['4Z123456783', 'FR 41 303 265 045'],
  }),
  ...buildIdentifierDetectors({
    id: 'it.codice_fiscale',
    detector: 'national_id',
    description:
      'Italian tax codes: consonants of the names, birth date and place, and a check letter (mod 26).',
    value: '[A-Z]{6}[\\dLMNP-V]{2}[A-EHLMPRST][\\dLMNP-V]{2}[A-Z][\\dLMNP-V]{3}[A-Z]',
    check: isCodiceFiscale,
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{6}\\d{2}'] },
    names: ['codice fiscale', 'cod\\.? ?fisc[a-z]{0,4}\\.?', 'italian fiscal code'],
    valid: ['RSSMRA85T10A562S', 'RCCMNL83S18D969H'],
    invalid: ['RSSMRA85T10A562T', 'RSSMRA85Z10A562S'],
  }),
  ...buildIdentifierDetectors({
    id: 'it.codice_fiscale_unchecked',
    detector: 'national_id',
    description:
      'Italian tax codes and those of companies as they are written in forms, whatever their check letter.',
    value: '[A-Z]{6}\\d{2}[A-EHLMPRST]\\d{2}[A-Z]\\d{3}[A-Z]|\\d{11}',
    names: ['codice fiscale', 'cod\\.? ?fisc[a-z]{0,4}\\.?', 'codice contribuente'],
    valid: ['RSSMRA85T10A562T', '60743310157'],
    invalid: ['RSSMRA85Z10', '6074331015'],
  }),
  ...buildIdentifierDetectors({
    id: 'it.partita_iva',
    detector: 'vat_id',
    severity: 'low',
    description: 'Italian VAT numbers: seven digits, the province of the office and a Luhn digit.',
    value: '(?:IT ?)?\\d{7}(?:0\\d\\d|100|12[01]|888|999)\\d',
    names: ['partita iva', 'p\\.? ?iva', 'piva'],
    valid: ['00743110157', 'IT00743110157'],
    invalid: ['00743110158', '0074311015'],
  }),
  ...buildIdentifierDetectors({
    id: 'it.identity_card',
    detector: 'national_id',
    description: 'Numbers of Italian identity cards, on paper and electronic.',
    value: '[A-Z]{2} ?\\d{7}|\\d{7}[A-Z]{2}|[A-Z]{2}\\d{5}[A-Z]{2}',
    names: ["carta d['’ ]identit[àa]", 'carta identit[àa]'],
    valid: ['CA12345AA', 'AA 1234567'],
    invalid: ['CA1234AA', 'A1234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'it.driving_licence',
    detector: 'driving_licence',
    description:
      'Numbers of Italian driving licences: two letters and seven digits and a letter, or U1 and nine characters.',
    value: '[A-Z]{2}\\d{7}[A-Z]|U1[BCDFGHJKLMNPRSTVWXYZ0-9]{7}[A-Z]',
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{2}\\d{3}', '(?<![\\w.-])U1[A-Z0-9]\\d'] },
    names: ['patente', 'patente di guida'],
    valid: ['RM1234567A', 'U1H92B831C'],
    invalid: ['RM123456A', 'U2H92B831C'],
  }),
];

function isNir(code: string): boolean {
  const month = parseTwoDigits(code, 3);
  if (month < 1 || (month > 12 && month < 20) || (month > 42 && month < 50)) return false;
  const body = code.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return !/[AB]/.test(body) && 97 - computeRemainder(body, 97) === Number(code.slice(13));
}

const VAT_KEYS = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZ';

function isFrenchVat(code: string): boolean {
  const number = code.length === 13 ? code.slice(2) : code;
  const siren = number.slice(2);
  if (!isLuhn(siren) || !hasVariedCharacters(siren)) return false;
  if (/^\d\d/.test(number)) return computeRemainder(`${siren}12`, 97) === Number(number.slice(0, 2));
  const [first, second] = [VAT_KEYS.indexOf(number[0]!), VAT_KEYS.indexOf(number[1]!)];
  const key = first < 10 ? first * 24 + second - 10 : first * 34 + second - 100;
  return (Number(siren) + 1 + Math.floor(key / 11)) % 11 === key % 11;
}

/** Values of `0`-`9` and `A`-`Z` at odd places. At even places, digits and letters count from 0. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isCodiceFiscale(code: string): boolean {
  const sum = Array.from(code.slice(0, 15)).reduce((total, char, at) => {
    const value = char <= '9' ? readDigit(char, 0) : char.charCodeAt(0) - 65;
    return total + (at % 2 === 0 ? ODD[value]! : value);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}
