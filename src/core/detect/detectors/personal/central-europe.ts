import {
  computeRemainder,
  digitAt,
  hasMod11And10,
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people and companies in Czechia, Slovakia, Poland and Hungary. */
export const centralEurope: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'cz.rodne_cislo',
    detector: 'national_id',
    description:
      'Czech and Slovak birth numbers: a birth date with month offsets, divisible by 11 where they have ten digits.',
    value: '\\d{6}[/ ]?\\d{3,4}',
    check: isRodneCislo,
    standalone: { anchors: ['(?<![\\w.-])\\d{6}/\\d{3}'], value: '\\d{6}/\\d{3,4}' },
    names: ['rodn[ée] [čc][íi]slo', 'rodne cislo', 'birth number', 'r\\.? ?[čc]\\.'],
    valid: ['710319/2745', '7103192745'],
    invalid: ['710319/2746', '711319/2745'],
  }),
  ...buildIdentifierDetectors({
    id: 'cz.ico',
    detector: 'business_id',
    severity: 'low',
    description: 'Czech company numbers with a check digit (mod 11).',
    value: '\\d{8}',
    check: (code) =>
      (11 - (sumWeighted(code, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digitAt(code, 7) &&
      hasVariedCharacters(code),
    names: ['ičo', 'i[čc]o'],
    valid: ['25123891'],
    invalid: ['25123890', '2512389'],
  }),
  ...buildIdentifierDetectors({
    id: 'pl.pesel',
    detector: 'national_id',
    description:
      'Polish PESEL numbers: a birth date with month offsets, a serial and a check digit (weights 1, 3, 7, 9).',
    value: '\\d{11}',
    check: isPesel,
    standalone: { anchors: [LONG_NUMBER] },
    names: ['pesel', 'numer pesel'],
    valid: ['44051401359', '02070803628'],
    invalid: ['44051401358', '44131401359'],
  }),
  ...buildIdentifierDetectors({
    id: 'pl.nip',
    detector: 'tax_id',
    description: 'Polish tax numbers (NIP) with a check digit (mod 11).',
    value: '(?:PL ?)?\\d{3}-?\\d{3}-?\\d{2}-?\\d{2}|\\d{3}-\\d{2}-\\d{2}-\\d{3}',
    check: (code) => sumWeighted(code.replace('PL', ''), [6, 5, 7, 2, 3, 4, 5, 6, 7, -1]) % 11 === 0,
    names: ['nip', 'numer nip'],
    valid: ['856-734-62-15', '8567346215'],
    invalid: ['856-734-62-16', '8567346216'],
  }),
  ...buildIdentifierDetectors({
    id: 'pl.regon',
    detector: 'business_id',
    severity: 'low',
    description: 'Polish company numbers (REGON) with a check digit (mod 11).',
    value: '\\d{9}(?:\\d{5})?',
    check: (code) => (sumWeighted(code, [8, 9, 2, 3, 4, 5, 6, 7]) % 11) % 10 === digitAt(code, 8),
    names: ['regon'],
    valid: ['192598184'],
    invalid: ['192598183', '19259818'],
  }),
  ...buildIdentifierDetectors({
    id: 'pl.dowod',
    detector: 'national_id',
    description:
      'Numbers of Polish identity cards: three letters and six digits, the first of them a check digit.',
    value: '[A-Z]{3} ?\\d{6}',
    check: isDowod,
    names: ['dow[óo]d[a-z]? osobist[a-z]{0,3}', 'numer dowodu'],
    valid: ['ABS123456', 'ABS 123456'],
    invalid: ['ABS223456', 'ABS12345'],
  }),
  ...buildIdentifierDetectors({
    id: 'hu.adoazonosito',
    detector: 'tax_id',
    description:
      'Hungarian tax identification numbers of people: 8, days, a serial and a check digit (mod 11).',
    value: '8\\d{9}',
    check: (code) => sumWeighted(code, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === digitAt(code, 9),
    names: ['ad[óo]azonos[íi]t[óo]', 'adoazonosito jel'],
    valid: ['8071592153'],
    invalid: ['8071592154', '7071592153'],
  }),
  ...buildIdentifierDetectors({
    id: 'hu.szemelyi_szam',
    detector: 'national_id',
    description:
      'Hungarian personal numbers: sex and century, birth date, serial and a check digit (mod 11).',
    value: '[1-8][ -]?\\d{6}[ -]?\\d{4}',
    check: (code) => hasValidDay(code, 3, 5) && (isSzemelyi(code, true) || isSzemelyi(code, false)),
    names: ['szem[ée]lyi sz[áa]m', 'szem[ée]lyi azonos[íi]t[óo]'],
    valid: ['1-650101-0004'],
    invalid: ['1-651301-0004', '9-650101-0004'],
  }),
  ...buildIdentifierDetectors({
    id: 'hu.taj',
    detector: 'health_id',
    description: 'Hungarian social insurance numbers (TAJ) with a check digit (weights 3 and 7).',
    value: '\\d{3}[ -]?\\d{3}[ -]?\\d{3}',
    check: (code) => sumWeighted(code, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === digitAt(code, 8),
    names: ['taj', 'taj sz[áa]m'],
    valid: ['111 111 110', '123-456-788'],
    invalid: ['123 456 789', '123 456 78'],
  }),
  ...buildIdentifierDetectors({
    id: 'hr.oib',
    detector: 'national_id',
    description: 'Croatian personal identification numbers (OIB) with a check digit (ISO 7064 mod 11,10).',
    value: '(?:HR ?)?\\d{11}',
    check: (code) => hasMod11And10(code.replace('HR', '')) && hasVariedCharacters(code.replace('HR', '')),
    names: ['oib', 'osobni identifikacijski broj'],
    valid: ['94577403194', '33392005961'],
    invalid: ['94577403195', '9457740319'],
  }),
  ...buildIdentifierDetectors({
    id: 'si.davcna',
    detector: 'tax_id',
    description: 'Slovenian tax numbers with a check digit (mod 11).',
    value: '(?:SI ?)?[1-9]\\d{7}',
    check: (code) => isDavcna(code.replace('SI', '')),
    names: ['dav[čc]na', 'dav[čc]na [šs]tevilka'],
    valid: ['15012557', 'SI15012557'],
    invalid: ['15012558', '05012557'],
  }),
  ...buildIdentifierDetectors({
    id: 'yu.jmbg',
    detector: 'national_id',
    description:
      'Personal numbers of Bosnia, Montenegro, North Macedonia, Serbia and Slovenia (EMŠO, JMBG): birth date, region, serial and a check digit (mod 11).',
    value: '\\d{13}',
    check: isJmbg,
    standalone: { anchors: [LONG_NUMBER], check: (code) => isJmbgYear(code) && isJmbg(code) },
    names: ['jmbg', 'em[šsŠ]o', 'umcn', 'mati[čc]ni broj', 'ЈМБГ', 'ЕМБГ'],
    valid: ['0101006500006', '2902932505526'],
    invalid: ['0101006500007', '0113006500006'],
  }),
];

function isRodneCislo(code: string): boolean {
  let month = parseTwoDigits(code, 2);
  if (month > 50) month -= 50;
  if (month > 20) month -= 20;
  if (!isValidDay(month, parseTwoDigits(code, 4))) return false;
  if (code.length === 9) return parseTwoDigits(code, 0) < 54;
  return (
    computeRemainder(code, 11) === 0 || (computeRemainder(code.slice(0, 9), 11) === 10 && code.endsWith('0'))
  );
}

function isPesel(code: string): boolean {
  if (!isValidDay(parseTwoDigits(code, 2) % 20, parseTwoDigits(code, 4))) return false;
  return sumWeighted(code, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

function isDowod(code: string): boolean {
  const sum = [7, 3, 1, 9, 7, 3, 1, 7, 3].reduce(
    (total, weight, at) => total + weight * Number.parseInt(code[at]!, 36),
    0,
  );
  return sum % 10 === 0;
}

/** Returns whether a code is a personal number. For births from 1997 on, the weights are reversed. */
function isSzemelyi(code: string, is_rising: boolean): boolean {
  const weights = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  return sumWeighted(code, is_rising ? weights : weights.reverse()) % 11 === digitAt(code, 10);
}

function isDavcna(code: string): boolean {
  const check = 11 - (sumWeighted(code, [8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 10 ? 0 : check) === digitAt(code, 7);
}

function isJmbg(code: string): boolean {
  if (!hasValidDay(code, 2, 0)) return false;
  const check = (11 - (sumWeighted(code, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check % 10 === digitAt(code, 12);
}

/** Returns whether the year, given by its last three digits, is from 1900 to 2029. */
function isJmbgYear(code: string): boolean {
  const year = Number(code.slice(4, 7));
  return year < 30 || year >= 900;
}
