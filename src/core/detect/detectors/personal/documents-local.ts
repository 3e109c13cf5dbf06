import { hasVariedCharacters } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Letters of scripts other than Latin, as they are on number plates. */
const LOCAL =
  '[\\u0370-\\u04ff\\u0590-\\u05ff\\u0620-\\u065f\\u066e-\\u06ef\\u06fa-\\u06ff\\u0900-\\u0965\\u0971-\\u09e5\\u0e01-\\u0e4f\\u3040-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7a3]';

/** Words for a number plate, by language. Cases of ASCII letters are folded. */
const PLATE_WORDS: readonly [string, ...string[]] = [
  'license plate',
  'licen[cs]e plate',
  'number plate',
  'plate number',
  'plate no',
  'vehicle registration',
  // German, Dutch, Nordic and Baltic languages.
  'kennzeichen',
  'nummernschild',
  'kontrollschild',
  'kenteken',
  'nummerplade',
  'nummerplaat',
  'registreringsnummer',
  'kjennemerke',
  'skilt',
  'regnr',
  'rekisterikilpi',
  'rekisterinumero',
  'rekisteritunnus',
  'registrinumber',
  'numbrim[äa]rk',
  'valstybinis numeris',
  'numura z[īi]me',
  // Romance languages.
  'immatriculation',
  "plaque d'immatriculation",
  'plaque',
  'matricula',
  'matr[íi]cula',
  'placa',
  'patente',
  'targa',
  'num[ăa]r de [îi]nmatriculare',
  // Slavic languages, Hungarian and Greek.
  'spz',
  '[šŠ]pz',
  'registra[čc]n[íi] zna[čc]ka',
  'e[čČ]v',
  'registarsk[ae] (?:oznak|tablic)[ae]',
  'registracija',
  'registrska',
  'registrska oznaka',
  'numer rejestracyjny',
  'nr rej',
  'tablica rejestracyjna',
  'rendsz[áa]m',
  '[рР]егистрационен номер',
  '[рР]егистрационный (?:номер|знак)',
  '[гГ]осномер',
  '[гГ]ос\\. номер',
  '[дД]ержномер',
  '[нН]омерний знак',
  '[нН]омер авто',
  '[πΠ]ινακίδα',
  '[αΑ]ριθμός κυκλοφορίας',
  // Asia, Turkey and Africa.
  'plaka',
  'plat nomor',
  'nomor polisi',
  'nopol',
  'nombor plat',
  '[bB]iển số',
  '[bB]iển kiểm soát',
  '车牌号?码?',
  '車牌號?碼?',
  'ナンバープレート',
  'ナンバー',
  '車両番号',
  '차량번호',
  '차량 번호',
  '번호판',
  'ทะเบียนรถ',
  'गाड़ी नंबर',
  'वाहन नंबर',
  'গাড়ির নম্বর',
  'لوحة',
  'رقم اللوحة',
  'لوحة المركبة',
  'پلاک',
  'מספר רכב',
  'לוחית רישוי',
];

/** Number plates with a word for them in the languages of the world, in Latin and in other letters. */
export const documentsLocal: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.plate',
    detector: 'vehicle',
    severity: 'low',
    description:
      'Number plates next to a word for them: one to four groups of capitals and digits, or with letters of other scripts.',
    value:
      `${LOCAL}\\d{3,4}${LOCAL}{2} ?\\d{0,3}|` +
      `${LOCAL}{1,4} ?\\d{2,3} ?${LOCAL} ?[\\d·]{1,2}-?\\d{2}|` +
      `\\d{1,3}[ -]{0,2}${LOCAL}{1,3}[ -]{0,2}\\d{2,4}|` +
      `${LOCAL}{1,8}(?:[ ·-]{1,2}${LOCAL}{1,8}){0,2}[ ·-]{0,2}(?:[A-Z][ ·-]{0,2})?\\d{2,5}(?:[ -]\\d{2,4})?|` +
      '[A-Z\\d]{1,7}(?:[ .·-]{1,3}[A-Z\\d]{1,6}){0,3}',
    is_exact_case: true,
    check: isPlate,
    names: PLATE_WORDS,
    valid: [
      '3404 BWV',
      'LDS-NF-893',
      '6F 3158Z',
      '051PSN',
      '570너6111',
      '名古屋 02 は 41-43',
      '晋D-13930',
      '2 ภฝ 6161',
      'ك ه ى 3723',
      'А123ВС77',
    ],
    invalid: ['is 12', '2026', 'ABCDEF', 'ك ه ى', '570', 'ISO 27001', 'RTX 4090'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.plate_of_digits',
    detector: 'vehicle',
    severity: 'low',
    description: 'Israeli number plates, which have digits only, next to a word for them.',
    value: '\\d{2}-?\\d{3}-?\\d{2}|\\d{3}-?\\d{2}-?\\d{3}',
    check: hasVariedCharacters,
    names: ['israeli plate', 'מספר רכב', 'לוחית רישוי', 'רישוי'],
    valid: ['15-577-35', '123-45-678'],
    invalid: ['15-577', '11-111-11'],
  }),
  {
    id: 'any.passport_short_word',
    detector: 'passport',
    tags: ['personal.pii.passport'],
    severity: 'high',
    strength: 'cue',
    description:
      'Passport numbers after the short words of Czech, Danish, Estonian, Latvian, Norwegian, Slovak and Swedish, which begin a field.',
    anchors: ['(?<![\\w-])P[Aa][Ss][SsEe: -]', '(?<![\\w-])pass?[ -]n'],
    pattern:
      /(?:P(?:as|AS)(?:s|S|e|E)?|(?<![A-Za-z])pass?(?=[ -]n))(?:[ -]?(?:[Nn]r|[Nn]o|č|[Nn]ummer|[Nn]umber|[Nn]umero)\.?)?[:：#]? ?(?<=[:：#.] ?|[rRoO] )(?<value>[A-Z]{0,2}\d{7,9})(?![\w-])/,
    examples: {
      hits: ['Pas: «202394008»', 'Pass: «558733108»', 'Pase: «080627208»', 'pass nr «AA1234567»'],
      misses: ['Pass: 12345, fail: 3', 'ne pas 202394008', 'pass 558733108', 'Bypass: 558733108'],
    },
  },
];

const LOCAL_LETTER = new RegExp(LOCAL);

/** Standards, and graphics cards, whose name in Spanish and Portuguese is that of a plate: `placa RTX 4090`. */
const NO_PLATE = /^(?:ISO|IEC|DIN)\d|^[RG]TX\d{3,4}(?:TI)?$/;

/** Returns whether a value is a plate: four to nine letters and digits, of both kinds, or letters of another script. */
function isPlate(code: string): boolean {
  if (LOCAL_LETTER.test(code)) return code.replace(/\D/g, '').length >= 2;
  const signs = code.replace(/\u00b7/g, '');
  if (NO_PLATE.test(signs)) return false;
  return signs.length >= 4 && signs.length <= 9 && /\d/.test(signs) && /[A-Z]/.test(signs);
}
