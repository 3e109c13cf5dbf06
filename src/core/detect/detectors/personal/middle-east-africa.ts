import {
  computeRemainder,
  digitAt,
  hasValidDay,
  hasVariedCharacters,
  sumWeighted,
} from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

const LONG_NUMBER = '(?<![\\w.-])\\d{8}';

/** Numbers of people in Turkey, Israel, the Gulf states and Africa. */
export const middleEastAfrica: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'tr.tckn',
    detector: 'national_id',
    description: 'Turkish identity numbers with two check digits.',
    value: '[1-9]\\d{10}',
    check: isTckn,
    standalone: { anchors: [LONG_NUMBER] },
    names: [
      'tckn',
      'kimlik no',
      'kimlik numaras[ıi]',
      'kimlik numaram',
      't\\.?c\\.? ?kimlik',
      't[üÜ]rk kimlik numaras[ıi]',
    ],
    valid: ['17291716060', '10000000146'],
    invalid: ['17291716050', '07291716060'],
  }),
  ...buildIdentifierDetectors({
    id: 'tr.vkn',
    detector: 'tax_id',
    description: 'Turkish tax numbers with a check digit.',
    value: '\\d{10}',
    check: isVkn,
    names: ['vkn', 'vergi no', 'vergi numaras[ıi]', 'vergi kimlik'],
    valid: ['4540536920'],
    invalid: ['4540536921', '454053692'],
  }),
  ...buildIdentifierDetectors({
    id: 'tr.plate',
    detector: 'vehicle',
    severity: 'low',
    description: 'Turkish number plates: province, letters and digits.',
    value: '(?:0[1-9]|[1-7]\\d|8[01]) ?[A-Z]{1,3} ?\\d{2,5}',
    names: ['plaka', 'plaka no'],
    valid: ['34 ABC 123', '06AB1234'],
    invalid: ['82 ABC 123', '34 ABC'],
  }),
  ...buildIdentifierDetectors({
    id: 'il.id',
    detector: 'national_id',
    description: 'Israeli identity numbers with a Luhn digit.',
    value: '\\d{8}-?\\d',
    check: (code) => isLuhn(code) && hasVariedCharacters(code),
    names: ['teudat zehut', 'israeli id', 'mispar zehut', 'תעודת זהות', 'ת\\.ז\\.'],
    valid: ['039337423', '03933742-3'],
    invalid: ['039337424', '03933742'],
  }),
  ...buildIdentifierDetectors({
    id: 'ae.emirates_id',
    detector: 'national_id',
    description: 'Emirates ID numbers: 784, birth year, serial and a Luhn digit.',
    value: '784[- ]?(?:19|20)\\d{2}[- ]?\\d{7}[- ]?\\d',
    standalone: { anchors: ['(?<![\\w.-])\\d{3}-\\d{4}-\\d', '(?<![\\w.-])\\d{8}'] },
    check: (code) => isLuhn(code),
    names: ['emirates id', 'eid'],
    valid: ['784-1968-6570300-1', '784196865703001'],
    invalid: ['784-1968-6570300-2', '785-1968-6570305-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'sa.id',
    detector: 'national_id',
    description: 'Saudi identity and residence numbers: 1 or 2, a serial and a Luhn digit.',
    value: '[12]\\d{9}',
    check: (code) => isLuhn(code),
    names: ['iqama', 'saudi id', 'saudi national id', 'هوية'],
    valid: ['1000000008', '2000000006'],
    invalid: ['1000000009', '3000000005'],
  }),
  ...buildIdentifierDetectors({
    id: 'kw.civil_id',
    detector: 'national_id',
    description: 'Kuwaiti civil numbers: century, birth date, serial and a check digit (mod 11).',
    value: '[23]\\d{11}',
    check: (code) =>
      hasValidDay(code, 3, 5) &&
      11 - (sumWeighted(code, [2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11) === digitAt(code, 11),
    names: ['kuwait civil id', 'civil id'],
    valid: ['281010112018', '288020122596', '292091998298'],
    invalid: ['281010112019', '281310112018'],
  }),
  ...buildIdentifierDetectors({
    id: 'eg.national_id',
    detector: 'national_id',
    description:
      'Egyptian national numbers: century, birth date, governorate and serial; how the last digit is made is not public.',
    value: '[23]\\d{13}',
    check: isEgyptian,
    // Fourteen digits that start with 20 are usually a timestamp and rarely a person born before 1910.
    standalone: { anchors: [LONG_NUMBER], value: '(?!20)[23]\\d{13}' },
    names: ['egyptian national id', 'الرقم القومي'],
    valid: ['29001011234009'],
    invalid: ['29013011234567', '49001011234009', '29001010512345'],
  }),
  ...buildIdentifierDetectors({
    id: 'za.id',
    detector: 'national_id',
    description: 'South African identity numbers: a birth date, serial, citizenship and a Luhn digit.',
    value: '\\d{6} ?\\d{4} ?[012]\\d ?\\d',
    check: (code) => hasValidDay(code, 2, 4) && isLuhn(code),
    standalone: {
      anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{6} \\d{4}'],
      check: (code) => hasValidDay(code, 2, 4) && digitAt(code, 11) >= 8 && isLuhn(code),
    },
    names: ['rsa id', 'south african id', 'sa id', 'refugee id'],
    valid: ['8001015009087', '800101 5009 087'],
    invalid: ['8001015009088', '8013015009087'],
  }),
  ...buildIdentifierDetectors({
    id: 'mu.nid',
    detector: 'national_id',
    description: 'Mauritian identity numbers: an initial, birth date, serial and a check character (mod 17).',
    value: '[A-Z]\\d{12}[0-9A-Z]',
    check: (code) => hasValidDay(code, 3, 1),
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'], check: isMauritian },
    names: ['nid', 'national id', 'national identity card'],
    valid: ['J2906201304089', 'M0106810123458'],
    invalid: ['J3906201304089', 'J290620130408'],
  }),
  ...buildIdentifierDetectors({
    id: 'ng.nin',
    detector: 'national_id',
    description: 'Nigerian identity numbers (NIN) and bank verification numbers (BVN), eleven digits.',
    value: '\\d{11}',
    check: hasVariedCharacters,
    names: ['nin', 'bvn', 'national identification number', 'bank verification number'],
    valid: ['12345678919'],
    invalid: ['1234567891', '11111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'ng.plate',
    detector: 'vehicle',
    severity: 'low',
    description: 'Nigerian number plates: three letters, three digits, two letters.',
    value: '[A-Z]{3}[- ]?\\d{3}-?[A-Z]{2}',
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{3}-\\d{3}'], value: '[A-Z]{3}-\\d{3}[A-Z]{2}' },
    names: ['plate number', 'vehicle registration', 'number plate', 'plate'],
    valid: ['APP-456CV', 'APP456CV'],
    invalid: ['APP-45CV', 'AP-456CV'],
  }),
  ...buildIdentifierDetectors({
    id: 'ke.pin',
    detector: 'tax_id',
    description: 'Kenyan tax numbers (KRA PIN): A or P, nine digits and a letter.',
    value: '[AP]\\d{9}[A-Z]',
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'] },
    names: ['kra pin', 'kra', 'pin'],
    valid: ['P051365947M', 'A004416331M'],
    invalid: ['X051365947M', 'P05136594M'],
  }),
  ...buildIdentifierDetectors({
    id: 'tn.cin',
    detector: 'national_id',
    description: 'Tunisian and Moroccan identity cards next to their French name.',
    value: '\\d{8}|[A-Z]{1,2}\\d{5,6}',
    names: ['cin', "carte d'identit[ée]", 'carte nationale', 'بطاقة'],
    valid: ['09958092', 'AB123456'],
    invalid: ['0995809', 'ABC12345'],
  }),
];

function isTckn(code: string): boolean {
  const odd = sumWeighted(code, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = sumWeighted(code, [0, 1, 0, 1, 0, 1, 0, 1]);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return tenth === digitAt(code, 9) && (odd + even + tenth) % 10 === digitAt(code, 10);
}

function isVkn(code: string): boolean {
  const sum = Array.from(code.slice(0, 9)).reduce((total, _, at) => {
    const shifted = (digitAt(code, at) + 9 - at) % 10;
    const power = (shifted * 2 ** (9 - at)) % 9;
    return total + (shifted !== 0 && power === 0 ? 9 : power);
  }, 0);
  return (10 - (sum % 10)) % 10 === digitAt(code, 9);
}

function isEgyptian(code: string): boolean {
  return hasValidDay(code, 3, 5) && /^(?:0[1-4]|1[1-9]|2[1-9]|3[1-5]|88)/.test(code.slice(7));
}

/**
 * Returns whether the check character is valid. It counts in base 36; the other characters have the weights 14 down
 * to 2.
 */
function isMauritian(code: string): boolean {
  const sum = Array.from(code.slice(0, 13)).reduce(
    (total, char, at) => total + (14 - at) * Number.parseInt(char, 36),
    0,
  );
  return (
    hasValidDay(code, 3, 1) &&
    computeRemainder(String(17 - (sum % 17)), 17) === Number.parseInt(code[13]!, 36)
  );
}
