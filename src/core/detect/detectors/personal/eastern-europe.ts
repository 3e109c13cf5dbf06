import {
  computeRemainder,
  digitAt,
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people in Bulgaria, Cyprus, Greece, Malta, Romania, Russia, Ukraine and Kazakhstan. */
export const easternEurope: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'bg.egn',
    detector: 'national_id',
    description:
      'Bulgarian personal numbers (EGN): a birth date with month offsets and a check digit (mod 11).',
    value: '\\d{6}[ -]?\\d{3}[ -]?\\d',
    check: isEgn,
    names: ['egn', '[еЕ][гГ][нН]'],
    valid: ['7523169263', '8032056031'],
    invalid: ['7523169264', '7513169263'],
  }),
  ...buildIdentifierDetectors({
    id: 'cy.tic',
    detector: 'tax_id',
    description: 'Cypriot tax identification codes: eight digits and a letter.',
    value: '(?:CY ?)?[0-9]\\d{7}[A-Z]',
    check: (code) => isCypriotCode(code.replace('CY', '')),
    names: ['tic', 'cyprus tax', 'tin'],
    valid: ['10259033P', 'CY10259033P'],
    invalid: ['10259033Z', '1025903P'],
  }),
  ...buildIdentifierDetectors({
    id: 'gr.amka',
    detector: 'national_id',
    description: 'Greek social security numbers (AMKA): a birth date, a serial and a Luhn digit.',
    value: '\\d{11}',
    check: (code) => hasValidDay(code, 2, 0) && isLuhn(code),
    standalone: { anchors: [LONG_NUMBER] },
    names: ['amka', '[αΑ][μΜ][κΚ][αΑ]'],
    valid: ['01013099997', '12107780004'],
    invalid: ['01013099998', '01133099997'],
  }),
  ...buildIdentifierDetectors({
    id: 'gr.afm',
    detector: 'tax_id',
    description: 'Greek tax numbers (AFM) with a check digit (powers of two, mod 11).',
    value: '(?:EL ?|GR ?)?\\d{9}',
    check: (code) => isAfm(code.replace(/^[A-Z]+/, '')),
    names: ['afm', 'vat gr', '[αΑ][φΦ][μΜ]'],
    valid: ['094259216', 'EL094259216'],
    invalid: ['094259217', '09425921'],
  }),
  ...buildIdentifierDetectors({
    id: 'gr.adt',
    detector: 'national_id',
    description: 'Numbers of Greek identity cards: one or two letters and six digits.',
    value: '[A-ZΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]{1,2}[ -]?\\d{6}',
    names: ['adt', 'greek id card', '[αΑ]\\.?[δΔ]\\.?[τΤ]'],
    valid: ['AB123456', 'Χ-123456'],
    invalid: ['AB12345', '1234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'mt.id',
    detector: 'national_id',
    description: 'Maltese identity numbers: up to seven digits and a letter.',
    value: '\\d{3,7}[APBHLMGZ]',
    names: ['karta tal-identit', 'maltese id'],
    valid: ['1234567M'],
    invalid: ['1234567X', '12M'],
  }),
  ...buildIdentifierDetectors({
    id: 'ro.cnp',
    detector: 'national_id',
    description:
      'Romanian personal numbers (CNP): sex and century, birth date, county, serial and a check digit (mod 11).',
    value: '[1-9]\\d{12}',
    check: isCnp,
    standalone: { anchors: [LONG_NUMBER] },
    names: ['cnp', 'cod numeric personal'],
    valid: ['1630615123457', '2930615123001'],
    invalid: ['1630615123458', '1631315123457'],
  }),
  ...buildIdentifierDetectors({
    id: 'ro.cui',
    detector: 'business_id',
    severity: 'low',
    description: 'Romanian company numbers (CUI, CIF) with a check digit (mod 11).',
    value: '(?:RO ?)?\\d{6,10}',
    check: (code) => isCui(code.replace('RO', '')),
    names: ['cui', 'cod fiscal', 'cod unic de [îi]nregistrare'],
    valid: ['18547290', 'RO18547290'],
    invalid: ['18547291', '18547'],
  }),
  ...buildIdentifierDetectors({
    id: 'ru.inn',
    detector: 'tax_id',
    description: 'Russian tax numbers (INN) with one check digit (companies) or two (people).',
    value: '\\d{12}|\\d{10}',
    check: isInn,
    names: ['inn', '[иИ][нН][нН]'],
    valid: ['500100732259', '7707083893'],
    invalid: ['500100732258', '7707083894'],
  }),
  ...buildIdentifierDetectors({
    id: 'ru.snils',
    detector: 'national_id',
    description: 'Russian pension insurance numbers (SNILS) with two check digits (mod 101).',
    value: '\\d{3}-?\\d{3}-?\\d{3}[ -]?\\d{2}',
    check: isSnils,
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{3}-\\d'], value: '\\d{3}-\\d{3}-\\d{3}[ -]\\d{2}' },
    names: ['snils', '[сС][нН][иИ][лЛ][сС]'],
    valid: ['112-233-445 95', '11223344595'],
    invalid: ['112-233-445 96', '112-233-44 95'],
  }),
  ...buildIdentifierDetectors({
    id: 'ru.passport',
    detector: 'passport',
    description: 'Russian internal passports: a series of four digits and a number of six.',
    value: '\\d{2} ?\\d{2} ?(?:№ ?)?\\d{6}',
    names: ['russian passport', '[пП]аспорт'],
    valid: ['45 10 123456', '4510123456'],
    invalid: ['45 10 12345', '451012345'],
  }),
  ...buildIdentifierDetectors({
    id: 'ua.rntrc',
    detector: 'tax_id',
    description:
      'Ukrainian tax numbers of people (RNTRC): days since 1900, a serial and a check digit (mod 11).',
    value: '\\d{10}',
    check: (code) =>
      (((sumWeighted(code, [-1, 5, 7, 9, 4, 6, 10, 5, 7]) % 11) + 11) % 11) % 10 === digitAt(code, 9),
    names: ['rntrc', 'ipn', '[рР][нН][оО][кК][пП][пП]', '[іІ][пП][нН]'],
    valid: ['1759013776', '3006321856'],
    invalid: ['1759013777', '175901377'],
  }),
  ...buildIdentifierDetectors({
    id: 'kz.iin',
    detector: 'national_id',
    description:
      'Kazakh individual numbers (IIN): a birth date, century and sex, a serial and a check digit (mod 11).',
    value: '\\d{12}',
    check: (code) => hasValidDay(code, 2, 4) && digitAt(code, 6) <= 6 && isIin(code),
    names: ['iin', '[иИ][иИ][нН]', '[жЖ][сС][нН]'],
    valid: ['870412300005'],
    invalid: ['870412300006', '871412300005'],
  }),
];

function isEgn(code: string): boolean {
  const month = parseTwoDigits(code, 2);
  if (month > 52 || !isValidDay(month % 20, parseTwoDigits(code, 4))) return false;
  return (sumWeighted(code, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10 === digitAt(code, 9);
}

const AT_EVEN_PLACES = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

function isCypriotCode(code: string): boolean {
  const sum = Array.from(code.slice(0, 8)).reduce((total, _, at) => {
    const digit = digitAt(code, at);
    return total + (at % 2 === 0 ? AT_EVEN_PLACES[digit]! : digit);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === code[8];
}

function isAfm(code: string): boolean {
  return (
    (sumWeighted(code, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === digitAt(code, 8) &&
    hasVariedCharacters(code)
  );
}

function isCnp(code: string): boolean {
  const county = parseTwoDigits(code, 7);
  const is_county = (county >= 1 && county <= 52) || county === 70 || (county >= 80 && county <= 83);
  if (!hasValidDay(code, 3, 5) || !is_county) return false;
  const rest = sumWeighted(code, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  return (rest === 10 ? 1 : rest) === digitAt(code, 12);
}

function isCui(code: string): boolean {
  const padded = code.padStart(10, '0');
  return (
    ((sumWeighted(padded, [7, 5, 3, 2, 1, 7, 5, 3, 2]) * 10) % 11) % 10 === digitAt(padded, 9) &&
    hasVariedCharacters(code)
  );
}

const INN_WEIGHTS = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];

function isInn(code: string): boolean {
  const digit = (length: number): number => (sumWeighted(code, INN_WEIGHTS.slice(-length)) % 11) % 10;
  if (code.length === 10) return digit(9) === digitAt(code, 9) && hasVariedCharacters(code);
  return digit(10) === digitAt(code, 10) && digit(11) === digitAt(code, 11);
}

function isSnils(code: string): boolean {
  const sum = sumWeighted(code, [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  return (sum % 101) % 100 === computeRemainder(code.slice(9), 101) && hasVariedCharacters(code.slice(0, 9));
}

function isIin(code: string): boolean {
  const first = sumWeighted(code, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
  const check = first < 10 ? first : sumWeighted(code, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11;
  return check === digitAt(code, 11);
}
