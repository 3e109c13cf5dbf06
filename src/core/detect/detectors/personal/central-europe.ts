import {
  computeRemainder,
  hasValidDay,
  isValidDay,
  parseTwoDigits,
  readDigit,
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
    check: (code) => isValidDay(parseTwoDigits(code, 2) % 20, parseTwoDigits(code, 4)),
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
    names: ['taj', 'taj sz[áa]m'],
    valid: ['111 111 110', '123-456-788'],
    invalid: ['123 456 789', '123 456 78'],
  }),
  ...buildIdentifierDetectors({
    id: 'hr.oib',
    detector: 'national_id',
    description: 'Croatian personal identification numbers (OIB) with a check digit (ISO 7064 mod 11,10).',
    value: '(?:HR ?)?\\d{11}',
    names: ['oib', 'osobni identifikacijski broj'],
    valid: ['94577403194', '33392005961'],
    invalid: ['94577403195', '9457740319'],
  }),
  ...buildIdentifierDetectors({
    id: 'si.davcna',
    detector: 'tax_id',
    description: 'Slovenian tax numbers with a check digit (mod 11).',
    value: '(?:SI ?)?[1-9]\\d{7}',
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
    check: (code) => hasValidDay(code, 2, 0),
    standalone: { anchors: [LONG_NUMBER], check: (code) => isJmbgYear(code) && hasValidDay(code, 2, 0) },
    names: ['jmbg', 'em[šsŠ]o', 'umcn', 'mati[čc]ni broj', 'ЈМБГ', 'ЕМБГ'],
    valid: ['0101006500006', '2902932505526'],
    invalid: ['0101006500007', '0113006500006'],
  }),
  ...buildIdentifierDetectors({
    id: 'cz.bank_account',
    detector: 'bank_account',
    description: 'Czech and Slovak account numbers: a prefix, the account (both mod 11) and the bank.',
    value: '(?:\\d{2,6}-)?\\d{6,10}/\\d{4}',
    check: (_, written) => isCzechAccount(written),
    standalone: { anchors: ['(?<![\\w./-])\\d{2,6}-\\d{6}'], value: '\\d{2,6}-\\d{6,10}/\\d{4}' },
    names: ['cislo uctu', '[čc][íi]slo [úu][čc]tu'],
    valid: ['19-2000145399/0800', '2000145399/0800'],
    invalid: ['19-2000145398/0800', '2000145399'],
  }),
  ...buildIdentifierDetectors({
    id: 'hu.adoszam',
    detector: 'tax_id',
    severity: 'low',
    description: 'Hungarian tax numbers of companies: a check digit (weights 9, 7, 3, 1), kind and county.',
    value: '\\d{8}(?:-?[1-5]-?\\d{2})?',
    names: ['adoszam', 'ad[óo]sz[áa]m'],
    valid: ['12892312', '12892312-2-41'],
    invalid: ['12892313', '1289231'],
  }),
  ...buildIdentifierDetectors({
    id: 'si.maticna',
    detector: 'business_id',
    severity: 'low',
    description: 'Slovenian register numbers with a check digit (mod 11).',
    value: '\\d{7}(?:\\d{3})?',
    names: ['maticna stevilka', 'mati[čc]na [šs]tevilka'],
    valid: ['9331310000', '9331310'],
    invalid: ['9331320000', '933131'],
  }),
  ...buildIdentifierDetectors({
    id: 'sk.ic_dph',
    detector: 'vat_id',
    severity: 'low',
    description: 'Slovak VAT numbers, which 11 divides.',
    value: '(?:SK ?)?[1-9]\\d[2-47-9]\\d{7}',
    check: (code) => computeRemainder(code.replace('SK', ''), 11) === 0,
    names: ['ic dph', 'i[čc] dph', 'di[čc]'],
    valid: ['2022749619', 'SK2022749619'],
    invalid: ['2022749618', '202274961'],
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

/** Returns whether a code is a personal number. For births from 1997 on, the weights are reversed. */
function isSzemelyi(code: string, isRising: boolean): boolean {
  const weights = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  return sumWeighted(code, isRising ? weights : weights.reverse()) % 11 === readDigit(code, 10);
}

/** Returns whether the year, given by its last three digits, is from 1900 to 2029. */
function isJmbgYear(code: string): boolean {
  const year = Number(code.slice(4, 7));
  return year < 30 || year >= 900;
}

const CZECH_ACCOUNT = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];

function isCzechAccount(written: string): boolean {
  const parts = written.slice(0, written.indexOf('/')).split('-');
  return parts.every((part) => sumWeighted(part.padStart(10, '0'), CZECH_ACCOUNT) % 11 === 0);
}
