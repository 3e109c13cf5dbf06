import {
  hasValidDay,
  hasVariedCharacters,
  parseTwoDigits,
  sumWeighted,
} from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people and companies in Thailand, Singapore, Malaysia, Indonesia, Vietnam and the Philippines. */
export const southeastAsia: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'th.pin',
    detector: 'national_id',
    description: 'Thai identity numbers with a check digit (mod 11); alone only in their groups.',
    value: '[1-9][ -]?\\d{4}[ -]?\\d{5}[ -]?\\d{2}[ -]?\\d',
    standalone: {
      anchors: ['(?<![\\w.-])\\d-\\d{4}-\\d', '(?<![\\w.-])\\d \\d{4} \\d'],
      value: '[1-9](?:-\\d{4}-\\d{5}-\\d{2}-\\d| \\d{4} \\d{5} \\d{2} \\d)',
    },
    names: ['thai national id', 'thai id', 'เลขประจำตัวประชาชน', 'บัตรประชาชน'],
    valid: ['1-2345-45678-78-1', '1234545678781'],
    invalid: ['1-2345-45678-78-2', '0-2345-45678-78-1'],
  }),
  ...buildIdentifierDetectors({
    id: 'sg.nric',
    detector: 'national_id',
    description:
      'Singaporean identity numbers (NRIC, FIN): a letter, seven digits and a check letter (mod 11).',
    value: '[STFGM]\\d{7}[A-Z]',
    check: isNric,
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'] },
    names: ['nric', 'fin'],
    valid: ['S1234567D', 'F1612000Q'],
    invalid: ['S1234567E', 'A1234567D'],
  }),
  ...buildIdentifierDetectors({
    id: 'sg.uen',
    detector: 'business_id',
    severity: 'low',
    description: 'Singaporean numbers of businesses, companies and others (UEN) with a check letter.',
    value: '\\d{8}[A-Z]|(?:18|19|20)\\d{7}[A-Z]|[TSR]\\d{2}[A-Z]{2}\\d{4}[A-Z]',
    check: isUen,
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]\\d{2}[a-z]{2}\\d', '(?i)(?<![\\w.-])\\d{8}\\d?[a-z]'],
    },
    names: ['uen', 'unique entity'],
    valid: ['00192200M', '197401143C', 'T01FC6132D', 'S16FC0121D'],
    invalid: ['00192200N', '197401143D'],
  }),
  ...buildIdentifierDetectors({
    id: 'my.nric',
    detector: 'national_id',
    description: 'Malaysian identity numbers (MyKad): a birth date, place of birth and a serial.',
    value: '\\d{6}-?\\d{2}-?\\d{4}',
    check: isMyKad,
    standalone: { anchors: ['(?<![\\w.-])\\d{6}-\\d{2}'], value: '\\d{6}-\\d{2}-\\d{4}' },
    names: ['mykad', 'nric', 'kad pengenalan', 'ic number', 'no\\. kp'],
    valid: ['770305-02-1234', '770305021234'],
    invalid: ['771305-02-1234', '770305-00-1234'],
  }),
  ...buildIdentifierDetectors({
    id: 'id.nik',
    detector: 'national_id',
    description:
      'Indonesian identity numbers (NIK): region, birth date (40 added to the day of women) and a serial.',
    value: '[1-9]\\d{15}',
    check: (code) => isNikDate(code) && parseTwoDigits(code, 0) >= 11 && parseTwoDigits(code, 0) <= 97,
    names: ['nik', 'ktp', 'nomor induk kependudukan'],
    valid: ['3171011708450001', '3171015708450001'],
    invalid: ['3171011713450001', '0171011708450001'],
  }),
  ...buildIdentifierDetectors({
    id: 'id.npwp',
    detector: 'tax_id',
    description: 'Indonesian tax numbers (NPWP) in their groups or in one.',
    value: '\\d{2}\\.?\\d{3}\\.?\\d{3}\\.?\\d-?\\d{3}\\.?\\d{3}',
    names: ['npwp'],
    standalone: {
      anchors: ['(?<![\\w.-])\\d{1,3}\\.\\d{3}\\.\\d{3}'],
      value: '\\d{2}\\.\\d{3}\\.\\d{3}\\.\\d-\\d{3}\\.\\d{3}',
    },
    valid: ['01.300.066.7-091.000', '013000667091000'],
    invalid: ['01.300.066.7-091', '0130006670910'],
  }),
  ...buildIdentifierDetectors({
    id: 'vn.cccd',
    detector: 'national_id',
    description:
      'Vietnamese identity numbers: province, century and sex, year, serial; or nine digits in the old form.',
    value: '0\\d{11}|\\d{9}',
    check: hasVariedCharacters,
    names: ['cccd', 'cmnd', 'c[aă]n c[uướ]{1,2}c'],
    valid: ['001090123456', '012345678'],
    invalid: ['101090123456', '01234567'],
  }),
  ...buildIdentifierDetectors({
    id: 'vn.mst',
    detector: 'tax_id',
    description: 'Vietnamese tax numbers (MST) with a check digit (mod 11).',
    value: '\\d{10}(?:-?\\d{3})?',
    names: ['mst', 'm[aã] s[oố] thu'],
    valid: ['0100233488', '0314409058-002'],
    invalid: ['0100233489', '010023348'],
  }),
  ...buildIdentifierDetectors({
    id: 'ph.ids',
    detector: 'national_id',
    description: 'Philippine numbers: UMID (CRN), SSS, TIN, PhilHealth and Pag-IBIG, in their groups.',
    value:
      '\\d{4}-\\d{7}-\\d|\\d{2}-\\d{7}-\\d|\\d{3}-\\d{3}-\\d{3}(?:-\\d{3,5})?|\\d{2}-\\d{9}-\\d|\\d{4}-\\d{4}-\\d{4}',
    names: ['umid', 'crn', 'sss number', 'sss no', 'philhealth', 'pag-ibig', 'tin', 'philsys'],
    valid: ['0028-1215160-9', '34-1234567-8', '123-456-789-000'],
    invalid: ['028-1215160-9', '34-12345-8'],
  }),
  ...buildIdentifierDetectors({
    id: 'mm.nrc',
    detector: 'national_id',
    description: 'Burmese registration numbers (NRC): state, township, kind and a serial.',
    value: '(?:1[0-4]|[1-9])/[A-Za-z]{3,12} ?\\((?:N|C|E|P|T|AC|NC|Naing|NAING)\\) ?\\d{6}',
    standalone: { anchors: ['(?<![\\w./-])\\d{1,2}/[A-Za-z]{3}'] },
    names: ['nrc', 'nrc no'],
    valid: ['12/MaGaDa(N)123456', '9/PaMaNa(N)654321'],
    invalid: ['15/MaGaDa(N)123456', '12/MaGaDa(N)1234'],
  }),
  ...buildIdentifierDetectors({
    id: 'id.family_card',
    detector: 'national_id',
    description: 'Indonesian family cards (KK): region, date of issue and a serial.',
    value: '[1-9]\\d{15}',
    check: (code) => hasValidDay(code, 8, 6),
    names: ['kartu keluarga', 'no\\.? kk', 'nomor kk'],
    valid: ['3171011708450001'],
    invalid: ['3171011713450001', '317101170845'],
  }),
  ...buildIdentifierDetectors({
    id: 'th.tin',
    detector: 'tax_id',
    severity: 'low',
    description: 'Thai tax numbers of companies and people with a check digit (mod 11).',
    value: '\\d[ -]?\\d{4}[ -]?\\d{5}[ -]?\\d{2}[ -]?\\d',
    names: ['thai tax id', 'เลขประจำตัวผู้เสียภาษี', 'ทะเบียนนิติบุคคล'],
    valid: ['0994000617721', '0-9940-00617-72-1'],
    invalid: ['0994000617720', '099400061772'],
  }),
];

const NRIC_LETTERS = {
  S: 'JZIHGFEDCBA',
  T: 'JZIHGFEDCBA',
  F: 'XWUTRQPNMLK',
  G: 'XWUTRQPNMLK',
  M: 'XWUTRQPNJLK',
} as const;

function isNric(code: string): boolean {
  const kind = code[0] as keyof typeof NRIC_LETTERS;
  const base = kind === 'T' || kind === 'G' ? 4 : kind === 'M' ? 3 : 0;
  const rest = (base + sumWeighted(code.slice(1), [2, 7, 6, 5, 4, 3, 2])) % 11;
  return (NRIC_LETTERS[kind][kind === 'M' ? 10 - rest : rest] ?? '') === code[8];
}

function isUen(code: string): boolean {
  if (code.length === 9) return 'XMKECAWLJDB'[sumWeighted(code, [10, 4, 9, 3, 8, 2, 7, 1]) % 11] === code[8];
  if (code[0]! <= '9') return 'ZKCMDNERGWH'[sumWeighted(code, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11] === code[9];
  const letters = 'ABCDEFGHJKLMNPQRSTUVWX0123456789';
  const sum = [4, 3, 5, 3, 10, 2, 2, 5, 7].reduce(
    (total, weight, at) => total + weight * letters.indexOf(code[at]!),
    0,
  );
  return letters[(((sum - 5) % 11) + 11) % 11] === code[9];
}

const NO_PLACES = [0, 17, 18, 19, 20, 69, 70, 73, 80, 81, 94, 95, 96, 97];

function isMyKad(code: string): boolean {
  return hasValidDay(code, 2, 4) && !NO_PLACES.includes(parseTwoDigits(code, 6));
}

function isNikDate(code: string): boolean {
  const day = parseTwoDigits(code, 6);
  return hasValidDay(`${code.slice(8, 10)}${String(day > 40 ? day - 40 : day).padStart(2, '0')}`, 0, 2);
}
