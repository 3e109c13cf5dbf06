import {
  digitAt,
  hasDay,
  isMod11And10,
  isVaried,
  weigh,
  weighDigitSums,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { identifier } from '../../matching/identifier.ts';

const SHORT_NUMBER_LETTER = '(?<![\\w.-])\\d{8}';

/** Numbers of people in Germany, Austria and Switzerland, those of health and pension insurance among them. */
export const germanSpeaking: readonly Detector[] = [
  ...identifier({
    id: 'de.steuer_id',
    detector: 'tax_id',
    description:
      'German tax identification numbers: one digit two or three times, and a check digit (ISO 7064 mod 11,10).',
    value: '[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}',
    check: (code) => isMod11And10(code) && isSteuerIdSpread(code),
    names: [
      'steuer-id',
      'steuer[ -]?id',
      'steueridentifikationsnummer',
      'identifikationsnummer',
      'idnr',
      'steuerliche identifikation',
    ],
    right: ['36574261809', '36 574 261 809'],
    wrong: ['36574261890', '36554266806'],
  }),
  ...identifier({
    id: 'de.vat',
    detector: 'vat_id',
    severity: 'low',
    description: 'German VAT numbers with a check digit (ISO 7064 mod 11,10).',
    value: 'DE ?\\d{3}[ ,.]?\\d{3}[ ,.]?\\d{3}',
    check: (code) => isMod11And10(code.replace(/\D/g, '')),
    alone: { anchors: ['(?i)(?<![\\w.-])de ?\\d{3}'] },
    names: ['ust-idnr', 'ust-?id', 'umsatzsteuer', 'vat id'],
    right: ['DE136695976', 'DE 136,695 976'],
    wrong: ['DE136695977', 'DE13669597'],
  }),
  ...identifier({
    id: 'de.steuernummer',
    detector: 'tax_id',
    description: 'German tax numbers in the forms of the federal states, with separators or without.',
    value: '\\d{2,3}[ /]\\d{3,4}[ /]\\d{4,5}|\\d{3}/\\d{3}/\\d{4} ?\\d|\\d{10,13}|\\d{5}/\\d{5}',
    alone: {
      anchors: ['(?<![\\w./-])\\d{2,3}/\\d{3,4}/\\d'],
      value: '\\d{2,3}/\\d{3}/\\d{4} ?\\d|\\d{3}/\\d{4}/\\d{4}',
    },
    names: ['steuernummer', 'steuer-nr', 'st\\.?-nr', 'tax number'],
    right: ['181/815/08155', '93815/08152', '2181508150'],
    wrong: ['181/815', '1234567'],
  }),
  ...identifier({
    id: 'de.rvnr',
    detector: 'national_id',
    description: 'German pension insurance numbers: area, birth date, initial, serial and a check digit.',
    value: '\\d{2} ?\\d{6} ?[A-Z] ?\\d{2} ?\\d',
    check: isRvnr,
    alone: { anchors: [SHORT_NUMBER_LETTER, '(?<![\\w.-])\\d{2} \\d{6}'] },
    names: [
      'rvnr',
      'rentenversicherungsnummer',
      'sozialversicherungsnummer',
      'sozialversicherungsausweis',
      'versicherungsnummer',
    ],
    right: ['15070649C103', '15 070649 C 103'],
    wrong: ['15070649C104', '15071349C103'],
  }),
  ...identifier({
    id: 'de.kvnr',
    detector: 'health_id',
    description: 'German health insurance numbers: a letter, eight digits and a check digit.',
    value: '[A-Z]\\d{9}',
    check: isKvnr,
    names: ['krankenversichertennummer', 'krankenversicherungsnummer', 'versichertennummer', 'kvnr', 'egk'],
    right: ['A123456780'],
    wrong: ['A123456781', '1123456780'],
  }),
  ...identifier({
    id: 'de.lanr',
    detector: 'health_id',
    description: 'German numbers of physicians with a check digit (weights 4 and 9).',
    value: '\\d{9}',
    check: (code) => (10 - (weigh(code, [4, 9, 4, 9, 4, 9]) % 10)) % 10 === digitAt(code, 6),
    names: ['lanr', 'arztnummer', 'lebenslange arztnummer'],
    right: ['123456601'],
    wrong: ['123456101', '12345660'],
  }),
  ...identifier({
    id: 'de.bsnr',
    detector: 'health_id',
    severity: 'medium',
    description: 'German numbers of medical practices.',
    value: '\\d{9}',
    names: ['bsnr', 'betriebsst[äa]ttennummer'],
    right: ['021234568'],
    wrong: ['0212345', 'A21234568'],
  }),
  ...identifier({
    id: 'de.identity_document',
    detector: 'passport',
    description:
      'Numbers of German passports and identity cards: nine characters and a check digit (weights 7, 3, 1).',
    value: '[CFGHJKLMNPRTVWXYZ0-9]{9}\\d?',
    check: isGermanDocument,
    names: [
      'personalausweis',
      'reisepass',
      'ausweisnummer',
      'personalausweisnummer',
      'reisepassnummer',
      'passnummer',
    ],
    right: ['T220001293', 'C01X00T478', 'C01X00T47'],
    wrong: ['T220001294', 'T22000'],
  }),
  ...identifier({
    id: 'at.svnr',
    detector: 'national_id',
    description: 'Austrian social insurance numbers: a serial, a check digit (mod 11) and a birth date.',
    value: '[1-9]\\d{3} ?\\d{6}',
    check: (code) =>
      Number(code.slice(6, 8)) <= 15 && weigh(code, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === digitAt(code, 3),
    names: ['svnr', 'sozialversicherungsnummer', 'sv-nummer', 'versicherungsnummer'],
    right: ['1237 010180', '1237010180'],
    wrong: ['1238 010180', '0237 010180'],
  }),
  ...identifier({
    id: 'ch.ahv',
    detector: 'national_id',
    description: 'Swiss social security numbers: 756 and a check digit as in EAN-13.',
    value: '756[. ]?\\d{4}[. ]?\\d{4}[. ]?\\d{2}',
    check: (code) => weigh(code, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
    alone: {
      anchors: ['(?<![\\w.-])756\\.\\d{4}', '(?<![\\w.-])756\\d{5}'],
      value: '756\\.\\d{4}\\.\\d{4}\\.\\d{2}|756\\d{10}',
    },
    names: ['ahv', 'ahv-nummer', 'avs', 'no avs', 'numero avs'],
    right: ['756.9217.0769.85', '7569217076985'],
    wrong: ['756.9217.0769.84', '755.9217.0769.85'],
  }),
  ...identifier({
    id: 'ch.uid',
    detector: 'business_id',
    severity: 'low',
    description: 'Swiss company numbers: CHE and nine digits with a check digit (mod 11).',
    value: 'CHE-?\\d{3}\\.?\\d{3}\\.?\\d{3}(?: ?(?:MWST|TVA|IVA))?',
    check: (code) => (11 - (weigh(code.slice(3), [5, 4, 3, 2, 7, 6, 5, 4]) % 11)) % 11 === digitAt(code, 11),
    alone: { anchors: ['(?i)(?<![\\w.-])che-?\\d{3}'] },
    names: ['uid', 'unternehmens-id'],
    right: ['CHE-100.155.212', 'CHE100155212'],
    wrong: ['CHE-100.155.213', 'CHE-100.155'],
  }),
  ...identifier({
    id: 'li.peid',
    detector: 'tax_id',
    description: 'Liechtenstein person identification numbers, four to twelve digits.',
    value: '\\d{4,12}|\\d{1,3}(?:\\.\\d{3}){1,3}',
    names: ['peid', 'personenidentifikationsnummer'],
    right: ['1234567'],
    wrong: ['123', 'A1234567'],
  }),
];

function isSteuerIdSpread(code: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of code.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && repeated[0]! <= 3;
}

function isRvnr(code: string): boolean {
  const day = Number(code.slice(2, 4)) % 50;
  if (!hasDay(`${code.slice(4, 6)}${String(day).padStart(2, '0')}`, 0, 2)) return false;
  const letter = String(code.charCodeAt(8) - 64).padStart(2, '0');
  const digits = code.slice(0, 8) + letter + code.slice(9, 11);
  return weighDigitSums(digits, [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1]) % 10 === digitAt(code, 11);
}

function isKvnr(code: string): boolean {
  const digits = String(code.charCodeAt(0) - 64).padStart(2, '0') + code.slice(1, 9);
  return weighDigitSums(digits, [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]) % 10 === digitAt(code, 9);
}

/** With ten characters the last one is the check digit; nine are the number alone. */
function isGermanDocument(code: string): boolean {
  if (code.length === 9) return isVaried(code) && /\d/.test(code);
  const sum = Array.from(code.slice(0, 9)).reduce(
    (total, char, at) => total + Number.parseInt(char, 36) * [7, 3, 1][at % 3]!,
    0,
  );
  return sum % 10 === digitAt(code, 9);
}
