import { hasVariedCharacters } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** One to three letters around digits, or digits alone: the form of most document numbers. */
const DOCUMENT = '(?:[A-Z]{1,3}[ -]?)?\\d{3,18}[A-Z]{0,2}';

/** Numbers of documents and people that have a general name in any country. */
export const documents: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.passport',
    detector: 'passport',
    description: 'Passport numbers of any country: five to ten letters and digits, most of them digits.',
    value: '(?:[A-Z]{1,3}[ -]?)?\\d{4,9}[A-Z]{0,2}|(?=[A-Z]{0,6}\\d)[A-Z0-9]{6,9}|\\d{2}[A-Z]{2}\\d{5}',
    check: (code) => (code.match(/\d/g)?.length ?? 0) >= 3,
    names: [
      'passport',
      'travel document',
      'reisepass',
      'passeport',
      'pasaporte',
      'passaporto',
      'passaporte',
      'paspoort',
      'paszport',
      'pasaport',
      '[пП]аспорт',
      '护照',
      'パスポート',
      'पासपोर्ट',
      'جواز',
    ],
    valid: ['AB1234567', 'C01X00T47', '925076473', 'P 4366918'],
    invalid: ['is valid', '123'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.driving_licence',
    detector: 'driving_licence',
    description: 'Driving licences of any country and state: letters and digits, most of them digits.',
    value: '(?:[A-Z]{1,3}[ -]?)?\\d{3,14}(?:[ -]\\d{2,8}){0,3}[A-Z]{0,2}|(?=[A-Z]{0,5}\\d)[A-Z0-9]{7,16}',
    check: (code) => (code.match(/\d/g)?.length ?? 0) >= 5,
    names: [
      'driving licence',
      'driving licen[cs]e',
      "driver[’']?s?[ _-]licen[cs]e",
      'licen[cs]e no',
      'f[üu]hrerschein',
      'permis de conduire',
      'permiso de conducir',
      'licencia de conducir',
      'carnet de conducir',
      'carteira de habilita[çc][ãa]o',
      'rijbewijs',
      'prawo jazdy',
      'patente di guida',
    ],
    valid: ['D1234567', '425700624', 'A123-4567-8901'],
    invalid: ['is valid', '1234'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.national_id',
    detector: 'national_id',
    description: 'Identity cards and national numbers of any country, next to a general name for them.',
    value: `${DOCUMENT}(?:[ ./-]\\d{2,7}){0,4}(?:[(\\[][A-Z0-9][)\\]])?`,
    check: (code) => (code.match(/\d/g)?.length ?? 0) >= 6 && hasVariedCharacters(code),
    names: [
      'identity card',
      'national id',
      'national identity',
      'identity number',
      'identification number',
      'citizen id',
      'id card',
      'government id',
      'personal id',
      'identity document',
      'documento de identidad',
      'ausweisnummer',
      'personal identification',
    ],
    valid: ['119803455876', 'A494866[4]', '219-472-156'],
    invalid: ['is valid', '12345'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.tax_id',
    detector: 'tax_id',
    description: 'Tax numbers of any country, next to a general name for them.',
    value:
      '(?:[A-Z]{1,4}[ -]?)?\\d{4,13}[A-Z]{0,2}|\\d{2,4}(?:[ ./-]\\d{2,7}){1,5}|[A-Z]{6}\\d{2}[A-Z]\\d{2}[A-Z]\\d{3}[A-Z]|[A-Z]{3,4}\\d{6}[A-Z0-9]{3}',
    check: (code) => (code.match(/\d/g)?.length ?? 0) >= 5,
    names: [
      'tax id',
      'tax[ _-]?id',
      'tax number',
      'tax no',
      'tax identification',
      'taxpayer',
      'fiscal code',
      'fiscal number',
      'steuernummer',
      'identificaci[óo]n fiscal',
      'num[ée]ro fiscal',
      '税号',
    ],
    valid: ['758426713', '00/0125-11148', '1234567T', 'PT299999998'],
    invalid: ['is due', '1234'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.vat',
    detector: 'vat_id',
    severity: 'low',
    description:
      'Value-added tax numbers of the European Union, the United Kingdom, Norway and Switzerland, next to a name for them.',
    value:
      '(?:[A-Z]{2,3}[ .-]?)?(?:[A-Z]{0,2}|\\d[A-Z])\\d{2,21}(?:[ .,-]\\d{2,16}){0,4}(?:[A-Z]{1,2}(?:\\d{2})?)?',
    check: (code) => (code.match(/\d/g)?.length ?? 0) >= 7,
    names: [
      'vat',
      'vat id',
      'vat reg',
      'vat registration',
      'tva',
      'iva',
      'ust-?id',
      'ust-idnr',
      'mwst',
      'umsatzsteuer',
      'btw',
      'moms',
      'gst number',
    ],
    valid: ['DE136695976', 'DE 136,695 976', 'K7795819412'],
    invalid: ['is 19', '20 %'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.vehicle',
    detector: 'vehicle',
    severity: 'low',
    description: 'Number plates next to a name for them: letters and digits in two or three groups.',
    value:
      '[A-Z]{1,3}[ -][A-Z]{1,2}[ -]?\\d{1,4}|[A-Z]{1,3}[ -]?\\d{1,4}[ -]?[A-Z]{0,3}[ -]?\\d{0,4}|\\d{1,4}[ -]?[A-Z]{1,3}[ -]?\\d{0,4}',
    check: (code) => code.length >= 5 && /\d/.test(code) && /[A-Z]/.test(code),
    names: [
      'license plate',
      'licence plate',
      'number plate',
      'plate number',
      'registration number',
      'vehicle registration',
      'kennzeichen',
      'immatriculation',
      'matr[íi]cula',
      'targa',
      'kenteken',
    ],
    valid: ['AB51 ABC', 'B-MW 1234'],
    invalid: ['is 12', 'A1'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.vin',
    detector: 'vehicle',
    severity: 'low',
    description: 'Vehicle identification numbers (ISO 3779) with the North American check character.',
    value: '[A-HJ-NPR-Z0-9]{17}',
    check: isVin,
    names: ['vin', 'chassis'],
    valid: ['1HGCM82633A004352', '1M8GDM9AXKP042788'],
    invalid: ['1HGCM82633A004353', '1HGCM82633A00435'],
  }),
];

const VIN_VALUES = '0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ';

function isVin(code: string): boolean {
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
  const sum = weights.reduce((total, weight, at) => total + weight * (VIN_VALUES.indexOf(code[at]!) % 10), 0);
  return '0123456789X'[sum % 11] === code[8];
}
