import {
  digitAt,
  hasDay,
  isDay,
  isMod11And10,
  isVaried,
  remainder,
  twoDigits,
  weigh,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { identifier } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people and companies in Czechia, Slovakia, Poland and Hungary. */
export const centralEurope: readonly Detector[] = [
  ...identifier({
    id: 'cz.rodne_cislo',
    detector: 'national_id',
    description:
      'Czech and Slovak birth numbers: a birth date with month offsets, divisible by 11 where they have ten digits.',
    value: '\\d{6}[/ ]?\\d{3,4}',
    check: isRodneCislo,
    alone: { anchors: ['(?<![\\w.-])\\d{6}/\\d{3}'], value: '\\d{6}/\\d{3,4}' },
    names: ['rodn[ée] [čc][íi]slo', 'rodne cislo', 'birth number', 'r\\.? ?[čc]\\.'],
    right: ['710319/2745', '7103192745'],
    wrong: ['710319/2746', '711319/2745'],
  }),
  ...identifier({
    id: 'cz.ico',
    detector: 'business_id',
    severity: 'low',
    description: 'Czech company numbers with a check digit (mod 11).',
    value: '\\d{8}',
    check: (code) =>
      (11 - (weigh(code, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digitAt(code, 7) && isVaried(code),
    names: ['ičo', 'i[čc]o'],
    right: ['25123891'],
    wrong: ['25123890', '2512389'],
  }),
  ...identifier({
    id: 'pl.pesel',
    detector: 'national_id',
    description:
      'Polish PESEL numbers: a birth date with month offsets, a serial and a check digit (weights 1, 3, 7, 9).',
    value: '\\d{11}',
    check: isPesel,
    alone: { anchors: [LONG_NUMBER] },
    names: ['pesel', 'numer pesel'],
    right: ['44051401359', '02070803628'],
    wrong: ['44051401358', '44131401359'],
  }),
  ...identifier({
    id: 'pl.nip',
    detector: 'tax_id',
    description: 'Polish tax numbers (NIP) with a check digit (mod 11).',
    value: '(?:PL ?)?\\d{3}-?\\d{3}-?\\d{2}-?\\d{2}|\\d{3}-\\d{2}-\\d{2}-\\d{3}',
    check: (code) => weigh(code.replace('PL', ''), [6, 5, 7, 2, 3, 4, 5, 6, 7, -1]) % 11 === 0,
    names: ['nip', 'numer nip'],
    right: ['856-734-62-15', '8567346215'],
    wrong: ['856-734-62-16', '8567346216'],
  }),
  ...identifier({
    id: 'pl.regon',
    detector: 'business_id',
    severity: 'low',
    description: 'Polish company numbers (REGON) with a check digit (mod 11).',
    value: '\\d{9}(?:\\d{5})?',
    check: (code) => (weigh(code, [8, 9, 2, 3, 4, 5, 6, 7]) % 11) % 10 === digitAt(code, 8),
    names: ['regon'],
    right: ['192598184'],
    wrong: ['192598183', '19259818'],
  }),
  ...identifier({
    id: 'pl.dowod',
    detector: 'national_id',
    description:
      'Numbers of Polish identity cards: three letters and six digits, the first of them a check digit.',
    value: '[A-Z]{3} ?\\d{6}',
    check: isDowod,
    names: ['dow[óo]d[a-z]? osobist[a-z]{0,3}', 'numer dowodu'],
    right: ['ABS123456', 'ABS 123456'],
    wrong: ['ABS223456', 'ABS12345'],
  }),
  ...identifier({
    id: 'hu.adoazonosito',
    detector: 'tax_id',
    description:
      'Hungarian tax identification numbers of people: 8, days, a serial and a check digit (mod 11).',
    value: '8\\d{9}',
    check: (code) => weigh(code, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === digitAt(code, 9),
    names: ['ad[óo]azonos[íi]t[óo]', 'adoazonosito jel'],
    right: ['8071592153'],
    wrong: ['8071592154', '7071592153'],
  }),
  ...identifier({
    id: 'hu.szemelyi_szam',
    detector: 'national_id',
    description:
      'Hungarian personal numbers: sex and century, birth date, serial and a check digit (mod 11).',
    value: '[1-8][ -]?\\d{6}[ -]?\\d{4}',
    check: (code) => hasDay(code, 3, 5) && (isSzemelyi(code, true) || isSzemelyi(code, false)),
    names: ['szem[ée]lyi sz[áa]m', 'szem[ée]lyi azonos[íi]t[óo]'],
    right: ['1-650101-0004'],
    wrong: ['1-651301-0004', '9-650101-0004'],
  }),
  ...identifier({
    id: 'hu.taj',
    detector: 'health_id',
    description: 'Hungarian social insurance numbers (TAJ) with a check digit (weights 3 and 7).',
    value: '\\d{3}[ -]?\\d{3}[ -]?\\d{3}',
    check: (code) => weigh(code, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === digitAt(code, 8),
    names: ['taj', 'taj sz[áa]m'],
    right: ['111 111 110', '123-456-788'],
    wrong: ['123 456 789', '123 456 78'],
  }),
  ...identifier({
    id: 'hr.oib',
    detector: 'national_id',
    description: 'Croatian personal identification numbers (OIB) with a check digit (ISO 7064 mod 11,10).',
    value: '(?:HR ?)?\\d{11}',
    check: (code) => isMod11And10(code.replace('HR', '')) && isVaried(code.replace('HR', '')),
    names: ['oib', 'osobni identifikacijski broj'],
    right: ['94577403194', '33392005961'],
    wrong: ['94577403195', '9457740319'],
  }),
  ...identifier({
    id: 'si.davcna',
    detector: 'tax_id',
    description: 'Slovenian tax numbers with a check digit (mod 11).',
    value: '(?:SI ?)?[1-9]\\d{7}',
    check: (code) => isDavcna(code.replace('SI', '')),
    names: ['dav[čc]na', 'dav[čc]na [šs]tevilka'],
    right: ['15012557', 'SI15012557'],
    wrong: ['15012558', '05012557'],
  }),
  ...identifier({
    id: 'yu.jmbg',
    detector: 'national_id',
    description:
      'Personal numbers of Bosnia, Montenegro, North Macedonia, Serbia and Slovenia (EMŠO, JMBG): birth date, region, serial and a check digit (mod 11).',
    value: '\\d{13}',
    check: isJmbg,
    alone: { anchors: [LONG_NUMBER], check: (code) => isJmbgYear(code) && isJmbg(code) },
    names: ['jmbg', 'em[šsŠ]o', 'umcn', 'mati[čc]ni broj', 'ЈМБГ', 'ЕМБГ'],
    right: ['0101006500006', '2902932505526'],
    wrong: ['0101006500007', '0113006500006'],
  }),
];

function isRodneCislo(code: string): boolean {
  let month = twoDigits(code, 2);
  if (month > 50) month -= 50;
  if (month > 20) month -= 20;
  if (!isDay(month, twoDigits(code, 4))) return false;
  if (code.length === 9) return twoDigits(code, 0) < 54;
  return remainder(code, 11) === 0 || (remainder(code.slice(0, 9), 11) === 10 && code.endsWith('0'));
}

function isPesel(code: string): boolean {
  if (!isDay(twoDigits(code, 2) % 20, twoDigits(code, 4))) return false;
  return weigh(code, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

function isDowod(code: string): boolean {
  const sum = [7, 3, 1, 9, 7, 3, 1, 7, 3].reduce(
    (total, weight, at) => total + weight * Number.parseInt(code[at]!, 36),
    0,
  );
  return sum % 10 === 0;
}

/** For births from 1997 on, the weights are reversed. */
function isSzemelyi(code: string, is_rising: boolean): boolean {
  const weights = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  return weigh(code, is_rising ? weights : weights.reverse()) % 11 === digitAt(code, 10);
}

function isDavcna(code: string): boolean {
  const check = 11 - (weigh(code, [8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 10 ? 0 : check) === digitAt(code, 7);
}

function isJmbg(code: string): boolean {
  if (!hasDay(code, 2, 0)) return false;
  const check = (11 - (weigh(code, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check % 10 === digitAt(code, 12);
}

/** The last three digits of a year from 1900 to 2029. */
function isJmbgYear(code: string): boolean {
  const year = Number(code.slice(4, 7));
  return year < 30 || year >= 900;
}
