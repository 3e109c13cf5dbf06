import { hasVariedCharacters } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';

/** Numbers of people, companies and vehicles in India, Pakistan, Bangladesh and Sri Lanka. */
export const southAsia: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'in.aadhaar',
    detector: 'national_id',
    description: 'Indian Aadhaar numbers with a check digit (Verhoeff); alone only in groups of four.',
    value: '[2-9]\\d{3}[ -]?\\d{4}[ -]?\\d{4}',
    standalone: {
      anchors: ['(?<![\\w.-])\\d{4}-\\d{4}-\\d', '(?<![\\w.-])\\d{4} \\d{4} \\d'],
      value: '[2-9]\\d{3}(?: \\d{4} \\d{4}|-\\d{4}-\\d{4})(?! ?\\d)',
    },
    names: ['aadhaar', 'aadhar', 'uidai', 'आधार'],
    valid: ['2341 2341 2346', '234123412346'],
    invalid: ['2341 2341 2347', '1341 2341 2346'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.pan',
    detector: 'tax_id',
    description:
      'Indian permanent account numbers: three letters, the kind of holder, a letter, four digits, a letter.',
    value: '[A-Z]{3}[ABCEFGHJLPTK][A-Z]\\d{4}[A-Z]',
    check: (code) => hasVariedCharacters(code.slice(5, 9)) || code[3] === 'P',
    standalone: { anchors: ['(?i)(?<![\\w.-])[a-z]{5}\\d{3}'] },
    names: ['pan', 'pan card', 'permanent account'],
    valid: ['ACUPA7085R', 'AAPFU0939F'],
    invalid: ['ACUDA7085R', 'ACUPA708R'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.gstin',
    detector: 'tax_id',
    severity: 'low',
    description:
      'Indian goods and services tax numbers: state, PAN, entity, Z and a check character (Luhn, base 36).',
    value: '\\d{2}[A-Z]{5}\\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]',
    check: isGstin,
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d{2}[a-z]{5}'] },
    names: ['gstin', 'gst number', 'gst'],
    valid: ['27AAPFU0939F1ZV'],
    invalid: ['27AAPFU0939F1ZW', '27AAPFU0939F1XV'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.epic',
    detector: 'national_id',
    description: 'Indian voter numbers (EPIC): three letters and seven digits.',
    value: '[A-Z]{3}\\d{7}',
    names: ['epic', 'voter', 'voter id', 'voter card', 'elector photo'],
    standalone: {
      anchors: ['(?i)(?<![\\w.-])[a-z]{3}\\d{3}'],
      check: (code) => isLuhn(code.slice(3)) && hasVariedCharacters(code.slice(3)),
    },
    valid: ['WKH1186253', 'KSD1287349'],
    invalid: ['WK1186253', 'WKHX186253'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.ifsc',
    detector: 'bank_account',
    severity: 'low',
    description: 'Indian branch codes (IFSC): four letters of the bank, 0, six characters of the branch.',
    value: '[A-Z]{4}0[A-Z0-9]{6}',
    names: ['ifsc', 'ifsc code'],
    valid: ['HDFC0001234', 'SBIN0ABC123'],
    invalid: ['HDFC1001234', 'HDF0001234'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.vehicle',
    detector: 'vehicle',
    severity: 'low',
    description: 'Indian number plates: state, district, series and number.',
    value:
      '(?:A[NPRS]|B[HR]|C[GH]|D[DLN]|G[AJ]|H[PR]|J[HK]|K[AL]|L[AD]|M[HLNPZ]|NL|O[DR]|P[BY]|RJ|SK|T[GNRS]|U[KP]|W[B])[ -]?\\d{1,2}[ -]?[A-Z]{1,3}[ -]?\\d{4}',
    standalone: {
      anchors: [
        '(?i)(?<![\\w.-])[a-z]{2}\\d{2}[a-z]',
        '(?i)(?<![\\w.-])[a-z]{2}\\d[a-z]{2}',
        '(?i)(?<![\\w.-])[a-z]{2}[ -]\\d{2}[ -]',
      ],
    },
    names: ['vehicle number', 'registration number', 'vehicle registration', 'number plate', 'rc number'],
    valid: ['KA53ME3456', 'MH 12 DE 1433'],
    invalid: ['XX53ME3456', 'KA53ME345'],
  }),
  ...buildIdentifierDetectors({
    id: 'pk.cnic',
    detector: 'national_id',
    description:
      'Pakistani identity numbers (CNIC): province and district, serial, and the digit of the sex.',
    value: '[1-7]\\d{4}-?\\d{7}-?[1-9]',
    standalone: { anchors: ['(?<![\\w.-])\\d{5}-\\d{4}'], value: '[1-7]\\d{4}-\\d{7}-[1-9]' },
    names: ['cnic', 'nicop', 'شناختی کارڈ'],
    valid: ['34201-0891231-8', '3420108912318'],
    invalid: ['94201-0891231-8', '34201-0891231-0'],
  }),
  ...buildIdentifierDetectors({
    id: 'bd.nid',
    detector: 'national_id',
    description: 'Identity numbers of Bangladesh: 10, 13 or 17 digits.',
    value: '\\d{10}(?:\\d{3}(?:\\d{4})?)?|\\d{3} \\d{3} \\d{4}',
    check: hasVariedCharacters,
    names: ['bangladesh nid', 'nid no', 'nid number', 'nid card', 'জাতীয় পরিচয়পত্র'],
    valid: ['1234567890123'],
    invalid: ['12345678', '1111111111'],
  }),
  ...buildIdentifierDetectors({
    id: 'lk.nic',
    detector: 'national_id',
    description:
      'Sri Lankan identity numbers: birth year and day of the year, serial, and V or X in the old form.',
    value: '\\d{9}[VX]|(?:19|20)\\d{10}',
    check: (code) => isDayOfYear(code.length === 10 ? code.slice(2, 5) : code.slice(4, 7)),
    names: ['nic', 'sri lankan id', 'national identity card'],
    standalone: { anchors: ['(?i)(?<![\\w.-])\\d{9}[vx]'], value: '\\d{9}[VX]' },
    valid: ['853400937V', '198534000937'],
    invalid: ['859990937V', '85340093V'],
  }),
  ...buildIdentifierDetectors({
    id: 'in.virtual_id',
    detector: 'national_id',
    description: 'Indian virtual ids of Aadhaar holders: sixteen digits with a check digit (Verhoeff).',
    value: '[2-9]\\d{3}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}',
    names: ['virtual id', 'aadhaar vid', 'vid[:]'],
    valid: ['2341 2341 2341 2341'],
    invalid: ['2341 2341 2341 2347', '1341 2341 2341 2341'],
  }),
  ...buildIdentifierDetectors({
    id: 'pk.ntn',
    detector: 'tax_id',
    description: 'Pakistani tax numbers (NTN): seven digits and a check digit.',
    value: '\\d{7}-\\d',
    names: ['ntn', 'ntn no', 'ntn number'],
    valid: ['1234567-8'],
    invalid: ['12345678', '123456-8'],
  }),
  ...buildIdentifierDetectors({
    id: 'bd.tin',
    detector: 'tax_id',
    description: 'Bangladeshi electronic tax numbers (e-TIN): twelve digits.',
    value: '\\d{12}',
    check: hasVariedCharacters,
    names: ['e-tin', 'etin', 'টিআইএন'],
    valid: ['123456789012'],
    invalid: ['12345678901', '111111111111'],
  }),
];

/** Returns whether digits are a day of the year. For women, 500 is added to the day. */
function isDayOfYear(digits: string): boolean {
  const day = Number(digits) % 500;
  return day >= 1 && day <= 366 && Number(digits) < 867;
}

const BASE36 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function isGstin(code: string): boolean {
  const sum = Array.from(code.slice(0, 14)).reduce((total, char, at) => {
    const value = BASE36.indexOf(char) * (at % 2 === 0 ? 1 : 2);
    return total + Math.floor(value / 36) + (value % 36);
  }, 0);
  return BASE36[(36 - (sum % 36)) % 36] === code[14];
}
