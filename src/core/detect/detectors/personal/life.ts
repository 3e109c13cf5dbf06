import { isValidDay } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';
import { NAME_PART } from '../../matching/named-value.ts';

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?';
const WORD = "[\\w\\u00c0-\\u024f'’-]{1,24}";

/**
 * A number and an English street, a number and a Romance street, or a German, Dutch or Nordic street and a number.
 */
const STREET = [
  `\\d{1,5}[A-Za-z]?,?(?: [A-Z\\u00c0-\\u00de]${WORD}){1,4} (?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Square|Place|Pl|Terrace|Close|Crescent|Parkway|Highway)`,
  `\\d{1,5},? (?:bis |ter )?(?:[Rr]ue|[Cc]hemin|[Aa]venue|[Bb]oulevard|[Pp]lace|[Rr]oute)(?: ${WORD}){1,4}`,
  `(?:[Cc]alle|[Aa]venida|[Pp]laza|[Vv]ia|[Vv]iale|[Pp]iazza|[Rr]ua|[Tt]ravessa|[Uu]l\\.)(?: ${WORD}){1,4},? \\d{1,5}`,
  `[A-Z\\u00c0-\\u00de][\\w\\u00c0-\\u024f-]{1,30}(?:straße|strasse|str\\.|weg|gasse|platz|allee|straat|laan|gatan|vägen|vej|katu|tie) \\d{1,4}[a-z]?(?:, \\d{4,5} ${NAME_PART})?`,
].join('|');

/**
 * Personal data without a form of its own, which only its name identifies: dates of birth, addresses, record numbers.
 */
export const life: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.date_of_birth',
    detector: 'date_of_birth',
    severity: 'medium',
    description: 'Dates of birth in digits or with the month’s English name.',
    value: `\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}|\\d{1,2}[-/. ]\\d{1,2}[-/. ]\\d{2,4}|\\d{1,2} ${MONTH},? \\d{4}|${MONTH} \\d{1,2},? \\d{4}`,
    try_work: 96,
    check: (_, written) => isDate(written),
    names: [
      'date of birth',
      'dob',
      'd\\.o\\.b\\.',
      'birth ?date',
      'birth[ _-]date',
      'born on',
      'born',
      'birthday',
      'geburtsdatum',
      'geboren am',
      'fecha de nacimiento',
      'date de naissance',
      'n[ée]e? le',
      'data di nascita',
      'data de nascimento',
      'geboortedatum',
      'data urodzenia',
      '生年月日',
      '出生日期',
      'дата рождения',
    ],
    valid: ['1963-10-15', '26.07.1996', '12 March 1980', 'March 12, 1980'],
    invalid: ['1963-13-40', '99.99.1996'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.medical_record',
    detector: 'health_id',
    description: 'Numbers of medical records, patients and health insurance members.',
    value: '(?:[A-Z]{1,4}[- ]?)?\\d{4,12}(?:-\\d{1,6})?',
    names: [
      'medical record',
      'mrn',
      'patient id',
      'patient number',
      'patient no',
      'health insurance',
      'member id',
      'patientennummer',
      'num[ée]ro de dossier m[ée]dical',
      'historia cl[íi]nica',
    ],
    valid: ['12345678', 'MR-483920'],
    invalid: ['is 12', 'none'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.street_address',
    detector: 'postal_address',
    severity: 'medium',
    description: 'Street addresses with a number, a street and its kind, on one line.',
    value: STREET,
    is_exact_case: true,
    names: [
      'address',
      'addr',
      'lives at',
      'live at',
      'ship to',
      'deliver to',
      'street',
      'adresse',
      'anschrift',
      'direcci[óo]n',
      'indirizzo',
      'endere[çc]o',
      'adres',
    ],
    valid: ['780 Martin Road', 'Lindenstraße 18, 22110 Hamburg'],
    invalid: ['0x7ffe', '12 items'],
  }),
];

function isDate(written: string): boolean {
  const numbers = written.match(/\d+/g)!.map(Number);
  if (numbers.length === 2)
    return numbers.every((number) => number <= 31 || (number >= 1880 && number <= 2100));
  const [first = 0, second = 0, third = 0] = numbers;
  return first > 31 ? isValidDay(second, third) : isValidDay(second, first) || isValidDay(first, second);
}
