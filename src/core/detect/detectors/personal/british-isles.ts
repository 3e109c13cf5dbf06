import { computeRemainder, hasVariedCharacters, sumWeighted } from '../../matching/check-digits.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people in the United Kingdom and Ireland, including those of health services. */
export const britishIsles: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'gb.nhs',
    detector: 'health_id',
    description:
      'NHS numbers (England, Wales, Isle of Man) and those of Scotland (CHI) with a check digit (mod 11).',
    value: '\\d{3}[ -]?\\d{3}[ -]?\\d{4}',
    standalone: { anchors: ['(?<![\\w.-])\\d{3} \\d{3} \\d'], value: '\\d{3} \\d{3} \\d{4}' },
    names: ['nhs', 'national health service', 'chi number'],
    valid: ['943 476 5870', '9434765870', '943-476-5870'],
    invalid: ['943 476 5871', '943 476 587'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.nino',
    detector: 'national_id',
    description:
      'British national insurance numbers: two letters but for those never given out, six digits, a letter.',
    value: '(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]',
    check: (code) => hasVariedCharacters(code.slice(2, 8)),
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{2}\\d{3}', '(?i)(?<![\\w.-])[a-z]{2} \\d{2}'] },
    names: ['nino', 'ni number', 'ni no', 'national insurance'],
    valid: ['AB 12 34 56 C', 'AB123456C'],
    invalid: ['GB123456C', 'DA123456C', 'AB123456E'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.utr',
    detector: 'tax_id',
    description: 'British unique taxpayer references with a check digit (mod 11).',
    value: '\\d{5} ?\\d{5}',
    names: ['utr', 'unique taxpayer reference'],
    valid: ['1955839661', '19558 39661'],
    invalid: ['2955839661', '195583966'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.sort_code',
    detector: 'bank_account',
    description: 'British and Irish sort codes, with the account number where it follows.',
    value: '\\d{2}-\\d{2}-\\d{2}(?:[ ,;]{1,3}(?:(?:account|acc|a\\/c)(?: no\\.?| number)?:? )?\\d{8})?',
    names: ['sort code', 'sort[ -]?code', 'bank sort code'],
    valid: ['20-00-00', '20-00-00 55779911'],
    invalid: ['20-00', '2000-00-0'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.driving_licence',
    detector: 'driving_licence',
    description:
      'British driver numbers: five of the surname, a birth date in disguise, initials, check characters.',
    value: '[A-Z9]{5}\\d[0156]\\d[0-3]\\d{2}[A-Z9]{2}[A-Z0-9][A-Z]{2}(?: ?\\d{2})?',
    check: (code) => /^[A-Z]+9*$/.test(code.slice(0, 5)) && isDvlaDate(code),
    standalone: {
      anchors: [
        '(?i)(?<![\\w.-])[a-z]{5}\\d{3}',
        '(?i)(?<![\\w.-])[a-z]{4}9\\d{3}',
        '(?i)(?<![\\w.-])[a-z]{3}99\\d{3}',
        '(?i)(?<![\\w.-])[a-z]{2}999\\d{3}',
      ],
      value: '[A-Z9]{5}\\d[0156]\\d[0-3]\\d{2}[A-Z9]{2}[A-Z0-9][A-Z]{2}',
    },
    names: ['driver number', 'driving licence', 'dvla'],
    valid: ['MORGA657054SM9IJ', 'SMITH711215AB9CD', 'FO999512018AA1AB'],
    invalid: ['MORGA697054SM9IJ', '99999657054SM9IJ'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.vehicle',
    detector: 'vehicle',
    severity: 'low',
    description: 'British number plates since 2001: area, age identifier and three letters.',
    value: '[A-HJ-PR-Y][A-HJ-PR-Z] ?(?:0[2-9]|[12]\\d|[5-7]\\d)[ -]?[A-HJ-PR-Z]{3}',
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]{2}\\d{2}[ -][a-z]{2}'],
      value: '[A-HJ-PR-Y][A-HJ-PR-Z](?:0[2-9]|[12]\\d|[5-7]\\d)[ -][A-HJ-PR-Z]{3}',
      check: (_, written) => written === written.toUpperCase(),
    },
    names: ['number plate', 'car reg', 'registration', 'vehicle reg', 'reg no', 'vrm'],
    valid: ['AB51 ABC', 'BD62 XYZ'],
    invalid: ['AB41 ABC', 'AB51 AB'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.postcode',
    detector: 'postal_address',
    severity: 'low',
    description: 'British postcodes: area, district, sector and unit in the letters that they may have.',
    value:
      '(?:GIR ?0AA|[A-PR-UWYZ](?:\\d{1,2}|[A-HK-Y]\\d{1,2}|\\d[A-HJKPSTUW]|[A-HK-Y]\\d[ABEHMNPRVWXY]) ?\\d[ABD-HJLNP-UW-Z]{2})',
    names: ['postcode', 'post code', 'postal code'],
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]{1,2}\\d{1,2} \\d', '(?i)(?<![\\w.-])[a-z]{1,2}\\d[a-z] \\d'],
      value:
        '[A-PR-UWYZ][A-HK-Y]?\\d{1,2} \\d[ABD-HJLNP-UW-Z]{2}|[A-PR-UWYZ][A-HK-Y]?\\d[A-HJKMNPR-Y] \\d[ABD-HJLNP-UW-Z]{2}',
      check: (_, written) => written === written.toUpperCase() && isPostcodeArea(written),
    },
    valid: ['SW1A 1AA', 'M11AA', 'EC1A 1BB'],
    invalid: ['SW1A 1', 'QX1 1AA'],
  }),
  ...buildIdentifierDetectors({
    id: 'ie.pps',
    detector: 'national_id',
    description:
      'Irish personal public service numbers: seven digits and a letter (mod 23), often a second letter.',
    value: '\\d{7}[A-W][A-IWTX]?',
    check: isPps,
    // In small letters, or round, it is a quantity with a unit.
    standalone: {
      anchors: ['(?<![\\w.-])\\d{7}[A-W]'],
      check: (code, written) => written === code && !/0{4}[A-Z]/.test(code) && isPps(code),
    },
    names: ['pps', 'ppsn', 'personal public service'],
    valid: ['6433435F', '6433435FT', '6433435OA'],
    invalid: ['6433435E', '643343F'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.vat',
    detector: 'vat_id',
    severity: 'low',
    description: 'British VAT numbers: GB, a serial and two check digits (mod 97).',
    value: 'GB ?\\d{3} ?\\d{4} ?\\d{2}',
    check: (code) => {
      const sum = sumWeighted(code.slice(2), [8, 7, 6, 5, 4, 3, 2, 10, 1]) % 97;
      return sum === 0 || sum === 42 || sum === 55;
    },
    standalone: { anchors: ['(?<![\\w.-])GB ?\\d{3}'] },
    names: ['vat number', 'vat no', 'vat reg', 'vat'],
    valid: ['GB980780684', 'GB 980 7806 84'],
    invalid: ['GB802311781', 'GB98078068'],
  }),
  ...buildIdentifierDetectors({
    id: 'gb.upn',
    detector: 'national_id',
    description: 'British pupil numbers: a check letter (mod 23), authority, school, year and serial.',
    value: '[A-HJ-NP-RT-Z]\\d{11}[\\dA-HJ-NP-RT-Z]',
    check: isPupilNumber,
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]\\d{6}'], value: '[A-HJ-NP-RT-Z]\\d{12}' },
    names: ['upn', 'unique pupil number', 'pupil number'],
    valid: ['B801200005001'],
    invalid: ['C801200005001', 'B80120000500'],
  }),
];

/** Returns whether the date is valid. The seventh to tenth digits are the month (plus 50 for women) and the day. */
function isDvlaDate(code: string): boolean {
  const month = Number(code.slice(6, 8)) % 50;
  const day = Number(code.slice(8, 10));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

const AREAS =
  /^(?:AB|AL|B|BA|BB|BD|BF|BH|BL|BN|BR|BS|BT|CA|CB|CF|CH|CM|CO|CR|CT|CV|CW|DA|DD|DE|DG|DH|DL|DN|DT|DY|E|EC|EH|EN|EX|FK|FY|G|GL|GU|GY|HA|HD|HG|HP|HR|HS|HU|HX|IG|IM|IP|IV|JE|KA|KT|KW|KY|L|LA|LD|LE|LL|LN|LS|LU|M|ME|MK|ML|N|NE|NG|NN|NP|NR|NW|OL|OX|PA|PE|PH|PL|PO|PR|RG|RH|RM|S|SA|SE|SG|SK|SL|SM|SN|SO|SP|SR|SS|ST|SW|SY|TA|TD|TF|TN|TQ|TR|TS|TW|UB|W|WA|WC|WD|WF|WN|WR|WS|WV|YO|ZE)\d/i;

function isPostcodeArea(written: string): boolean {
  return AREAS.test(written);
}

const PPS_LETTERS = 'WABCDEFGHIJKLMNOPQRSTUV';

function isPps(code: string): boolean {
  const second = code[8] === undefined || 'WTX'.includes(code[8]) ? 0 : code.charCodeAt(8) - 64;
  const sum = sumWeighted(code, [8, 7, 6, 5, 4, 3, 2]) + second * 9;
  return PPS_LETTERS[sum % 23] === code[7] && computeRemainder(code.slice(0, 7), 10_000_000) > 0;
}

const PUPIL_LETTERS = 'ABCDEFGHJKLMNPQRTUVWXYZ';

/** Returns whether the first letter follows from the others, which have the weights 2 to 13. */
function isPupilNumber(code: string): boolean {
  let sum = 0;
  for (let at = 1; at < code.length; at++) {
    const letter = PUPIL_LETTERS.indexOf(code[at]!);
    sum += (at + 1) * (letter < 0 ? Number(code[at]) : letter);
  }
  return PUPIL_LETTERS[sum % 23] === code[0];
}
