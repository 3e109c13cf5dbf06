import {
  computeRemainder,
  hasValidDay,
  hasVariedCharacters,
  isValidDay,
  parseTwoDigits,
  readDigit,
  sumWeighted,
} from '../../matching/check-digits.ts';
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
    check: (code) => hasValidDay(code, 2, 0),
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
    check: (code) => hasValidDay(code, 2, 4) && readDigit(code, 6) <= 6,
    names: ['iin', '[иИ][иИ][нН]', '[жЖ][сС][нН]'],
    valid: ['870412300005'],
    invalid: ['870412300006', '871412300005'],
  }),
  ...buildIdentifierDetectors({
    id: 'al.nipt',
    detector: 'tax_id',
    description: 'Albanian tax numbers (NIPT, NUIS): the decade, eight digits and a letter.',
    value: '[A-M]\\d{8}[A-Z]',
    names: ['nipt', 'nuis', 'numri personal'],
    valid: ['J91402501L'],
    invalid: ['Z91402501L', 'J9140250L'],
  }),
  ...buildIdentifierDetectors({
    id: 'az.fin',
    detector: 'national_id',
    description: 'Azerbaijani identity codes (FIN): seven digits and letters without I and O.',
    value: '[0-9A-HJ-NP-Z]{7}',
    is_exact_case: true,
    check: (code) => /\d/.test(code) && /[A-Z]/.test(code),
    names: ['fin kod', 'fin kodu', 'fin code', 'fin[:]'],
    valid: ['9FZPBB6', '5K1GW2A'],
    invalid: ['1234567', '9FZPBB'],
  }),
  ...buildIdentifierDetectors({
    id: 'az.voen',
    detector: 'tax_id',
    description: 'Azerbaijani tax numbers (VÖEN): a serial, a check digit (mod 11) and the kind of holder.',
    value: '\\d{3} ?\\d{3} ?\\d{3}[12]',
    names: ['voen', 'v[öo]en'],
    valid: ['140 155 5071', '1401555071'],
    invalid: ['140 155 5081', '140 155 5073'],
  }),
  ...buildIdentifierDetectors({
    id: 'bg.lnch',
    detector: 'national_id',
    description: 'Bulgarian numbers of foreigners (LNCh) with a check digit (mod 10).',
    value: '\\d{10}',
    names: ['lnch', 'лнч', 'личен номер на чужденец'],
    valid: ['7111042925'],
    invalid: ['7111042922', '711104292'],
  }),
  ...buildIdentifierDetectors({
    id: 'by.personal_number',
    detector: 'national_id',
    description:
      'Belarusian identification numbers: sex and century, birth date, region, serial, citizenship and a check digit.',
    value: '[1-6]\\d{6}[ABCHKEM]\\d{3}(?:PB|BA|BI)\\d',
    check: (code) => hasValidDay(code, 3, 1),
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d{7}[a-z]\\d'] },
    names: ['identifikacionny nomer', 'идентификационный номер', 'ідэнтыфікацыйны нумар', 'личный номер'],
    valid: ['3110190A012PB2'],
    invalid: ['3110190A012PB9', '3119990A012PB2'],
  }),
  ...buildIdentifierDetectors({
    id: 'by.unp',
    detector: 'tax_id',
    description: 'Belarusian tax numbers (UNP) with a check digit (mod 11).',
    value: '[1-7]\\d{8}',
    names: ['unp', 'унп'],
    valid: ['200988541'],
    invalid: ['200988542', '20098854'],
  }),
  ...buildIdentifierDetectors({
    id: 'ge.personal_number',
    detector: 'national_id',
    description: 'Georgian and Armenian identity numbers next to their names: ten or eleven digits.',
    value: '\\d{10,11}',
    check: hasVariedCharacters,
    names: ['georgian id', 'პირადი ნომერი', 'armenian psn', 'հծհ', 'սոցիալական քարտ'],
    valid: ['01024085331'],
    invalid: ['0102408', '11111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'md.idnp',
    detector: 'national_id',
    description:
      'Moldovan numbers of people and companies (IDNP, IDNO) with a check digit (weights 7, 3, 1).',
    value: '[0-2]\\d{12}',
    names: ['idnp', 'idno'],
    valid: ['1008600038413'],
    invalid: ['1008600038412', '100860003841'],
  }),
  ...buildIdentifierDetectors({
    id: 'me.pib',
    detector: 'tax_id',
    severity: 'low',
    description: 'Montenegrin tax numbers (PIB) with a check digit (mod 11).',
    value: '0\\d{7}',
    names: ['pib', '[пП][иИ][бБ]'],
    valid: ['02655284'],
    invalid: ['02655283', '0265528'],
  }),
  ...buildIdentifierDetectors({
    id: 'mk.edb',
    detector: 'tax_id',
    severity: 'low',
    description: 'Macedonian tax numbers (EDB) with a check digit (mod 11).',
    value: '(?:MK)?\\d{13}',
    names: ['edb', '[еЕ][дД][бБ]'],
    valid: ['4030000375897', 'MK4030000375897'],
    invalid: ['4030000375890', '403000037589'],
  }),
  ...buildIdentifierDetectors({
    id: 'rs.pib',
    detector: 'tax_id',
    severity: 'low',
    description: 'Serbian tax numbers (PIB) with a check digit (ISO 7064 mod 11,10).',
    value: '\\d{9}',
    names: ['pib', '[пП][иИ][бБ]'],
    valid: ['101134702'],
    invalid: ['101134703', '10113470'],
  }),
  ...buildIdentifierDetectors({
    id: 'ru.ogrn',
    detector: 'business_id',
    severity: 'low',
    description: 'Russian register numbers (OGRN, OGRNIP) with a check digit (mod 11 or 13).',
    value: '[1-9]\\d{12}(?:\\d{2})?',
    check: isOgrn,
    names: ['ogrn', 'ogrnip', '[оО][гГ][рР][нН]'],
    valid: ['1027700132195', '304500116000157'],
    invalid: ['1027700132196', '304500116000158'],
  }),
  ...buildIdentifierDetectors({
    id: 'ua.edrpou',
    detector: 'business_id',
    severity: 'low',
    description: 'Ukrainian register numbers (EDRPOU) with a check digit (mod 11).',
    value: '\\d{8}',
    check: isEdrpou,
    names: ['edrpou', '[єЄ][дД][рР][пП][оО][уУ]'],
    valid: ['32855961'],
    invalid: ['32855968', '3285596'],
  }),
  ...buildIdentifierDetectors({
    id: 'uz.pinfl',
    detector: 'national_id',
    description:
      'Uzbek identity numbers (PINFL): sex and century, birth date, region, serial and a check digit (weights 7, 3, 1).',
    value: '[1-6]\\d{13}',
    check: (code) => hasValidDay(code, 3, 1),
    names: ['pinfl', 'jshshir', '[пП][иИ][нН][фФ][лЛ]', 'жшшир'],
    valid: ['31205925060025'],
    invalid: ['31205925060024', '31299925060025'],
  }),
];

function isEgn(code: string): boolean {
  const month = parseTwoDigits(code, 2);
  return month <= 52 && isValidDay(month % 20, parseTwoDigits(code, 4));
}

const AT_EVEN_PLACES = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

function isCypriotCode(code: string): boolean {
  const sum = Array.from(code.slice(0, 8)).reduce((total, _, at) => {
    const digit = readDigit(code, at);
    return total + (at % 2 === 0 ? AT_EVEN_PLACES[digit]! : digit);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === code[8];
}

function isCnp(code: string): boolean {
  const county = parseTwoDigits(code, 7);
  const isCounty = (county >= 1 && county <= 52) || county === 70 || (county >= 80 && county <= 83);
  return hasValidDay(code, 3, 5) && isCounty;
}

const INN_WEIGHTS = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];

function isInn(code: string): boolean {
  const digit = (length: number): number => (sumWeighted(code, INN_WEIGHTS.slice(-length)) % 11) % 10;
  if (code.length === 10) return digit(9) === readDigit(code, 9) && hasVariedCharacters(code);
  return digit(10) === readDigit(code, 10) && digit(11) === readDigit(code, 11);
}

function isSnils(code: string): boolean {
  const sum = sumWeighted(code, [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  return (sum % 101) % 100 === computeRemainder(code.slice(9), 101) && hasVariedCharacters(code.slice(0, 9));
}

function isOgrn(code: string): boolean {
  return computeRemainder(code.slice(0, -1), code.length - 2) % 10 === readDigit(code, -1);
}

/** Returns whether a register number is right. Its weights depend on its range, and are others if 10 is left. */
function isEdrpou(code: string): boolean {
  const isMiddle = code >= '30000000' && code <= '60000000';
  const weights = isMiddle ? [7, 1, 2, 3, 4, 5, 6] : [1, 2, 3, 4, 5, 6, 7];
  const rest = sumWeighted(code, weights) % 11;
  const more = weights.map((weight) => weight + 2);
  return (rest < 10 ? rest : (sumWeighted(code, more) % 11) % 10) === readDigit(code, 7);
}
