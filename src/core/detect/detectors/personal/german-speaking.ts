import {
  hasMod11And10,
  hasValidDay,
  hasVariedCharacters,
  readDigit,
  sumWeighted,
  sumWeightedDigits,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const SHORT_NUMBER_LETTER = '(?<![\\w.-])\\d{8}';

/** Numbers of people in Germany, Austria and Switzerland, including health and pension insurance. */
export const germanSpeaking: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'de.steuer_id',
    detector: 'tax_id',
    description:
      'German tax identification numbers: one digit two or three times, and a check digit (ISO 7064 mod 11,10).',
    value: '[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}',
    check: (code) => hasMod11And10(code) && isSteuerIdSpread(code),
    names: [
      'steuer-id',
      'steuer[ -]?id',
      'steueridentifikationsnummer',
      'identifikationsnummer',
      'idnr',
      'steuerliche identifikation',
    ],
    valid: ['36574261809', '36 574 261 809'],
    invalid: ['36574261890', '36554266806'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.vat',
    detector: 'vat_id',
    severity: 'low',
    description: 'German VAT numbers with a check digit (ISO 7064 mod 11,10).',
    value: 'DE ?\\d{3}[ ,.]?\\d{3}[ ,.]?\\d{3}',
    check: isGermanVat,
    standalone: {
      anchors: ['(?i)(?<![\\w.-])de ?\\d{3}'],
      // "de 136.695.976" is "of 136,695,976" in Romance languages.
      check: (code, written) => isGermanVat(code) && !/^(?:[dD]e |DE \d{3}([.,])\d{3}\1)/.test(written),
    },
    names: ['ust-idnr', 'ust-?id', 'umsatzsteuer', 'vat id'],
    valid: ['DE136695976', 'DE 136,695 976'],
    invalid: ['DE136695977', 'DE13669597'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.steuernummer',
    detector: 'tax_id',
    description: 'German tax numbers in the forms of the federal states, with separators or without.',
    value: '\\d{2,3}[ /]\\d{3,4}[ /]\\d{4,5}|\\d{3}/\\d{3}/\\d{4} ?\\d|\\d{10,13}|\\d{5}/\\d{5}',
    standalone: {
      anchors: ['(?<![\\w./-])\\d{2,3}/\\d{3,4}/\\d'],
      value: '\\d{2,3}/\\d{3}/\\d{4} ?\\d|\\d{3}/\\d{4}/\\d{4}',
    },
    names: ['steuernummer', 'steuer-nr', 'st\\.?-nr', 'tax number'],
    valid: ['181/815/08155', '93815/08152', '2181508150'],
    invalid: ['181/815', '1234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.rvnr',
    detector: 'national_id',
    description: 'German pension insurance numbers: area, birth date, initial, serial and a check digit.',
    value: '\\d{2} ?\\d{6} ?[A-Z] ?\\d{2} ?\\d',
    check: isRvnr,
    standalone: { anchors: [SHORT_NUMBER_LETTER, '(?<![\\w.-])\\d{2} \\d{6}'] },
    names: [
      'rvnr',
      'rentenversicherungsnummer',
      'sozialversicherungsnummer',
      'sozialversicherungsausweis',
      'versicherungsnummer',
    ],
    valid: ['15070649C103', '15 070649 C 103'],
    invalid: ['15070649C104', '15071349C103'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.kvnr',
    detector: 'health_id',
    description: 'German health insurance numbers: a letter, eight digits and a check digit.',
    value: '[A-Z]\\d{9}',
    check: isKvnr,
    names: ['krankenversichertennummer', 'krankenversicherungsnummer', 'versichertennummer', 'kvnr', 'egk'],
    valid: ['A123456780'],
    invalid: ['A123456781', '1123456780'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.lanr',
    detector: 'health_id',
    description: 'German numbers of physicians with a check digit (weights 4 and 9).',
    value: '\\d{9}',
    check: (code) => (10 - (sumWeighted(code, [4, 9, 4, 9, 4, 9]) % 10)) % 10 === readDigit(code, 6),
    names: ['lanr', 'arztnummer', 'lebenslange arztnummer'],
    valid: ['123456601'],
    invalid: ['123456101', '12345660'],
  }),
  ...buildIdentifierDetectors({
    id: 'de.bsnr',
    detector: 'health_id',
    severity: 'medium',
    description: 'German numbers of medical practices.',
    value: '\\d{9}',
    names: ['bsnr', 'betriebsst[äa]ttennummer'],
    valid: ['021234568'],
    invalid: ['0212345', 'A21234568'],
  }),
  ...buildIdentifierDetectors({
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
    valid: ['T220001293', 'C01X00T478', 'C01X00T47'],
    invalid: ['T220001294', 'T22000'],
  }),
  ...buildIdentifierDetectors({
    id: 'at.svnr',
    detector: 'national_id',
    description: 'Austrian social insurance numbers: a serial, a check digit (mod 11) and a birth date.',
    value: '[1-9]\\d{3} ?\\d{6}',
    check: (code) => Number(code.slice(6, 8)) <= 15,
    names: ['svnr', 'sozialversicherungsnummer', 'sv-nummer', 'versicherungsnummer'],
    valid: ['1237 010180', '1237010180'],
    invalid: ['1238 010180', '0237 010180'],
  }),
  ...buildIdentifierDetectors({
    id: 'ch.ahv',
    detector: 'national_id',
    description: 'Swiss social security numbers: 756 and a check digit as in EAN-13.',
    value: '756[. ]?\\d{4}[. ]?\\d{4}[. ]?\\d{2}',
    standalone: {
      anchors: ['(?<![\\w.-])756\\.\\d{4}', '(?<![\\w.-])756\\d{5}'],
      value: '756\\.\\d{4}\\.\\d{4}\\.\\d{2}|756\\d{10}',
    },
    names: ['ahv', 'ahv-nummer', 'avs', 'no avs', 'numero avs'],
    valid: ['756.9217.0769.85', '7569217076985'],
    invalid: ['756.9217.0769.84', '755.9217.0769.85'],
  }),
  ...buildIdentifierDetectors({
    id: 'ch.uid',
    detector: 'business_id',
    severity: 'low',
    description: 'Swiss company numbers: CHE and nine digits with a check digit (mod 11).',
    value: 'CHE-?\\d{3}\\.?\\d{3}\\.?\\d{3}(?: ?(?:MWST|TVA|IVA))?',
    standalone: { anchors: ['(?i)(?<![\\w.-])che-?\\d{3}'] },
    names: ['uid', 'unternehmens-id'],
    valid: ['CHE-100.155.212', 'CHE100155212'],
    invalid: ['CHE-100.155.213', 'CHE-100.155'],
  }),
  ...buildIdentifierDetectors({
    id: 'li.peid',
    detector: 'tax_id',
    description: 'Liechtenstein person identification numbers, four to twelve digits.',
    value: '\\d{4,12}|\\d{1,3}(?:\\.\\d{3}){1,3}',
    names: ['peid', 'personenidentifikationsnummer'],
    valid: ['1234567'],
    invalid: ['123', 'A1234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'at.uid',
    detector: 'vat_id',
    severity: 'low',
    description: 'Austrian VAT numbers: ATU, a serial and a check digit.',
    value: 'ATU ?\\d{8}',
    check: (code) => {
      const sum = sumWeightedDigits(code.slice(3), [1, 2, 1, 2, 1, 2, 1]);
      return (10 - ((sum + 4) % 10)) % 10 === readDigit(code, 10);
    },
    standalone: { anchors: ['(?i)(?<![\\w.-])atu ?\\d{3}'] },
    names: ['uid-nummer', 'uid', 'ust-?id'],
    valid: ['ATU13585627', 'ATU 13585627'],
    invalid: ['ATU13585626', 'ATU1358562'],
  }),
  ...buildIdentifierDetectors({
    id: 'at.tin',
    detector: 'tax_id',
    description: 'Austrian tax numbers: the office, a serial and a Luhn digit.',
    value: '\\d{2}[- ]?\\d{3}/?\\d{4}',
    names: ['abgabenkontonummer', 'steuernummer', 'st\\.?-nr'],
    valid: ['59-119/9013', '591199013'],
    invalid: ['59-119/9012', '59-119/901'],
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
  if (!hasValidDay(`${code.slice(4, 6)}${String(day).padStart(2, '0')}`, 0, 2)) return false;
  const letter = String(code.charCodeAt(8) - 64).padStart(2, '0');
  const digits = code.slice(0, 8) + letter + code.slice(9, 11);
  return sumWeightedDigits(digits, [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1]) % 10 === readDigit(code, 11);
}

function isKvnr(code: string): boolean {
  const digits = String(code.charCodeAt(0) - 64).padStart(2, '0') + code.slice(1, 9);
  return sumWeightedDigits(digits, [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]) % 10 === readDigit(code, 9);
}

/** Returns whether a code is a document number. Ten characters include a check digit; nine are the number alone. */
function isGermanDocument(code: string): boolean {
  if (code.length === 9) return hasVariedCharacters(code) && /\d/.test(code);
  const sum = Array.from(code.slice(0, 9)).reduce(
    (total, char, at) => total + Number.parseInt(char, 36) * [7, 3, 1][at % 3]!,
    0,
  );
  return sum % 10 === readDigit(code, 9);
}

function isGermanVat(code: string): boolean {
  return hasMod11And10(code.replace(/\D/g, ''));
}
