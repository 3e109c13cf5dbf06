import type { Detector } from '../../matching/detector.ts';
import { buildDigitProfile } from '../../matching/digit-profile.ts';
import { memoizeValue } from '../../matching/lazy-value.ts';

const NORTH_AMERICAN =
  /(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]?\d{3}[ .-]\d{4}|[2-9]\d\d(?<sep>[.-])\d{3}\k<sep>\d{4})(?![\d-]|\.\d)/;
const digits = memoizeValue(() => buildDigitProfile(NORTH_AMERICAN));

export const phone: readonly Detector[] = [
  {
    id: 'phone.international',
    detector: 'phone',
    tags: ['personal.pii.phone'],
    severity: 'medium',
    strength: 'shape',
    description: 'International telephone numbers (ITU-T E.164): `+`, a country code, 8 to 15 digits in all.',
    anchors: ['(?<![\\w+])\\+[1-9]\\d', '(?<![\\w+])\\+[1-9][ .(-]'],
    pattern: /\+[1-9](?:[ .\-/]?(?:\(\d{1,5}\)|\d)){6,14}(?!\d)(?![.,]\d)/,
    validate: isInternational,
    examples: {
      hits: ['call «+44 20 7946 0958» now', 'tel:«+14155550132»', '«+49 (0)30 901820»', '«+1-415-555-0132»'],
      misses: ['+1234', 'a+4420794609581', '+0 123 456 789', 'rose by +12.50 and +13.50', '+1111111111'],
    },
  },
  {
    id: 'phone.north_american',
    detector: 'phone',
    tags: ['personal.pii.phone'],
    severity: 'medium',
    strength: 'shape',
    description: 'North American numbers with separators: `(415) 555-0132`, `415-555-0132`, `415.555.0132`.',
    anchors: [
      '(?<![\\w.+-])[2-9]\\d\\d[.-]\\d{3}[.-]\\d',
      '\\([2-9]\\d\\d\\)',
      '(?<![\\w.+-])1[ .-]\\(?[2-9]\\d\\d',
    ],
    pattern: NORTH_AMERICAN,
    get digit_profile() {
      return digits();
    },
    examples: {
      hits: ['call «(415) 555-0132»', 'or «415-555-0132».', 'fax «212.555.0199»', '«1-800-555-0199»'],
      misses: [
        '4155550132',
        '192.168.100.1',
        '115-555-0132',
        'v1.415.555.0132',
        '2024-555-0132',
        '415-555.0132',
      ],
    },
  },
];

function isInternational(value: string): boolean {
  const digits = value.replace(/\D/g, '');
  return digits.length >= 8 && digits.length <= 15 && new Set(digits).size > 2;
}
