import {
  computeRemainder,
  hasValidDay,
  hasVariedCharacters,
  readDigit,
  sumWeighted,
} from '../../matching/check-digits.ts';
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
    names: ['emirates id', 'eid'],
    valid: ['784-1968-6570300-1', '784196865703001'],
    invalid: ['784-1968-6570300-2', '785-1968-6570305-2'],
  }),
  ...buildIdentifierDetectors({
    id: 'sa.id',
    detector: 'national_id',
    description: 'Saudi identity and residence numbers: 1 or 2, a serial and a Luhn digit.',
    value: '[12]\\d{9}',
    names: ['iqama', 'saudi id', 'saudi national id', 'هوية'],
    valid: ['1000000008', '2000000006'],
    invalid: ['1000000009', '3000000005'],
  }),
  ...buildIdentifierDetectors({
    id: 'kw.civil_id',
    detector: 'national_id',
    description: 'Kuwaiti civil numbers: century, birth date, serial and a check digit (mod 11).',
    value: '[23]\\d{11}',
    check: (code) => hasValidDay(code, 3, 5),
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
    check: (code) => hasValidDay(code, 2, 4),
    standalone: {
      anchors: [LONG_NUMBER, '(?<![\\w.-])\\d{6} \\d{4}'],
      check: (code) => hasValidDay(code, 2, 4) && readDigit(code, 11) >= 8,
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
  ...buildIdentifierDetectors({
    id: 'ao.bi',
    detector: 'national_id',
    description: 'Angolan identity numbers: nine digits, the province and three digits.',
    value: '\\d{9}[A-Z]{2}\\d{3}',
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d{8}\\d[a-z]{2}\\d'] },
    names: ['bilhete de identidade', 'n[úu]mero do bi'],
    valid: ['000123456LA041'],
    invalid: ['00012345LA041', '000123456L0041'],
  }),
  ...buildIdentifierDetectors({
    id: 'bh.cpr',
    detector: 'national_id',
    description: 'Bahraini identity numbers (CPR): birth year and month, and a serial.',
    value: '\\d{2}(?:0[1-9]|1[0-2])\\d{5}',
    names: ['bahrain cpr', 'cpr number', 'cpr', 'الرقم الشخصي'],
    valid: ['880512345'],
    invalid: ['881312345', '8805123'],
  }),
  ...buildIdentifierDetectors({
    id: 'gh.card',
    detector: 'national_id',
    description: 'Ghanaian identity cards: GHA, nine digits and a check digit.',
    value: 'GHA-?\\d{9}-?\\d',
    standalone: { anchors: ['(?i)(?<![\\w.-])gha-?\\d{3}'] },
    names: ['ghana card', 'ghana card number'],
    valid: ['GHA-713245678-9', 'GHA7132456789'],
    invalid: ['GHB-713245678-9', 'GHA-71324567-9'],
  }),
  ...buildIdentifierDetectors({
    id: 'gn.nifp',
    detector: 'tax_id',
    description: 'Guinean tax numbers (NIFp) with a Luhn digit.',
    value: '\\d{3}-?\\d{3}-?\\d{3}',
    names: ['nifp'],
    valid: ['693770885', '693-770-885'],
    invalid: ['693770884', '69377088'],
  }),
  ...buildIdentifierDetectors({
    id: 'il.company',
    detector: 'business_id',
    severity: 'low',
    description: 'Israeli company numbers: 5, a serial and a Luhn digit.',
    value: '5\\d-?\\d{6}-?\\d',
    names: ['hevra pratit', 'ח\\.?פ\\.?', 'מספר חברה'],
    valid: ['516179157', '51-617915-7'],
    invalid: ['516179150', '416179157'],
  }),
  ...buildIdentifierDetectors({
    id: 'ir.national_code',
    detector: 'national_id',
    description: 'Iranian national codes with a check digit (mod 11).',
    value: '\\d{3}-?\\d{6}-?\\d',
    names: ['code melli', 'kod melli', 'melli code', 'iranian national code', 'کد ?ملی', 'شماره ملی'],
    valid: ['0499370899', '049-937089-9'],
    invalid: ['0499370898', '049937089'],
  }),
  ...buildIdentifierDetectors({
    id: 'ma.ice',
    detector: 'business_id',
    severity: 'low',
    description: 'Moroccan company numbers (ICE), fifteen digits, which 97 divides.',
    value: '\\d{15}',
    check: (code) => computeRemainder(code, 97) === 0 && hasVariedCharacters(code),
    names: ['identifiant commun', 'ice[:]'],
    valid: ['001561191000066'],
    invalid: ['001561191000065', '00156119100006'],
  }),
  ...buildIdentifierDetectors({
    id: 'qa.qid',
    detector: 'national_id',
    description: 'Qatari identity numbers (QID): century, birth year, country and a serial.',
    value: '[23]\\d{10}',
    check: hasVariedCharacters,
    names: ['qid', 'qatar id', 'qatari id'],
    valid: ['28463412345'],
    invalid: ['48463412345', '2846341234'],
  }),
  ...buildIdentifierDetectors({
    id: 'rw.national_id',
    detector: 'national_id',
    description: 'Rwandan identity numbers: kind, birth year, sex, serial, issue and two check digits.',
    value: '[123] ?(?:19|20)\\d{2} ?[78] ?\\d{7} ?\\d ?\\d{2}',
    names: ['indangamuntu', 'rwandan id', 'rwanda id'],
    valid: ['1 1998 8 0012345 0 12', '1199880012345012'],
    invalid: ['1 1998 9 0012345 0 12', '119988001234'],
  }),
  ...buildIdentifierDetectors({
    id: 'tn.mf',
    detector: 'tax_id',
    description: 'Tunisian tax numbers: a serial, a key letter, the kinds of VAT and holder, and the branch.',
    value: '\\d{7} ?/?[A-HJ-NP-TV-Z](?:/?[ABDNP]/?[CMNPE]/?\\d{3})?',
    standalone: {
      anchors: ['(?i)(?<![\\w.-])\\d{7}/?[a-z]/'],
      value: '\\d{7}/?[A-HJ-NP-TV-Z]/[ABDNP]/?[CMNPE]/\\d{3}',
    },
    names: ['matricule fiscal', 'matricule fiscale'],
    valid: ['1234567/M/A/E/001', '1234567M/A/E/001'],
    invalid: ['123456/M/A/E/001', '1234567/I/A/E/001'],
  }),
  ...buildIdentifierDetectors({
    id: 'tz.nida',
    detector: 'national_id',
    description: 'Tanzanian identity numbers (NIDA): birth date, ward, serial and two digits.',
    value: '(?:19|20)\\d{6}-?\\d{5}-?\\d{5}-?\\d{2}',
    check: (code) => hasValidDay(code, 4, 6),
    standalone: {
      anchors: ['(?<![\\w.-])\\d{8}-\\d{5}-\\d'],
      value: '(?:19|20)\\d{6}-\\d{5}-\\d{5}-\\d{2}',
    },
    names: ['nida', 'nida number', 'nin'],
    valid: ['19900515-12101-00001-23', '19900515121010000123'],
    invalid: ['19901315-12101-00001-23', '19900515-12101-00001'],
  }),
  ...buildIdentifierDetectors({
    id: 'ug.nin',
    detector: 'national_id',
    description: 'Ugandan identity numbers (NIN): C, the sex and twelve digits and letters.',
    value: 'C[MF]\\d{2}[A-Z0-9]{10}',
    check: (code) => code.replace(/\D/g, '').length >= 5,
    names: ['nin', 'ugandan nin', 'national identification number'],
    valid: ['CM9005210FQWDL'],
    invalid: ['CX9005210FQWDL', 'CM9005210FQ'],
  }),
  ...buildIdentifierDetectors({
    id: 'za.tin',
    detector: 'tax_id',
    description: 'South African tax numbers with a Luhn digit.',
    value: '[01239]\\d{9}',
    names: ['income tax number', 'tax reference number', 'sars number', 'sars'],
    valid: ['0001339050', '2449494240'],
    invalid: ['2449494248', '9125568'],
  }),
  ...buildIdentifierDetectors({
    id: 'zm.nrc',
    detector: 'national_id',
    description: 'Zambian registration numbers (NRC): a serial, the district and the kind of holder.',
    value: '\\d{6}/\\d{2}/[1-3]',
    standalone: { anchors: ['(?<![\\w./-])\\d{6}/\\d{2}/\\d'] },
    names: ['nrc', 'national registration'],
    valid: ['123456/78/1'],
    invalid: ['123456/78/9', '12345/78/1'],
  }),
  ...buildIdentifierDetectors({
    id: 'zw.national_id',
    detector: 'national_id',
    description: 'Zimbabwean identity numbers: district, serial, a letter and the district of origin.',
    value: '\\d{2}-?\\d{6,7} ?-?[A-HJ-NP-TV-Z] ?-?\\d{2}',
    standalone: {
      anchors: ['(?i)(?<![\\w.-])\\d{2}-\\d{6,7} ?[a-z]'],
      value: '\\d{2}-\\d{6,7} ?[A-HJ-NP-TV-Z] ?\\d{2}',
    },
    names: ['zimbabwe id', 'zimbabwean id', 'national registration', 'national id'],
    valid: ['63-1234567 K 12', '631234567K12'],
    invalid: ['63-12345 K 12', '63-1234567 I 12'],
  }),
];

function isTckn(code: string): boolean {
  const odd = sumWeighted(code, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = sumWeighted(code, [0, 1, 0, 1, 0, 1, 0, 1]);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return tenth === readDigit(code, 9) && (odd + even + tenth) % 10 === readDigit(code, 10);
}

function isVkn(code: string): boolean {
  const sum = Array.from(code.slice(0, 9)).reduce((total, _, at) => {
    const shifted = (readDigit(code, at) + 9 - at) % 10;
    const power = (shifted * 2 ** (9 - at)) % 9;
    return total + (shifted !== 0 && power === 0 ? 9 : power);
  }, 0);
  return (10 - (sum % 10)) % 10 === readDigit(code, 9);
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
