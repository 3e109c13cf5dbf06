import type { Detector } from '../../matching/detector.ts';
import { buildDigitProfile } from '../../matching/digit-profile.ts';
import { memoizeValue } from '../../matching/lazy-value.ts';
import { buildNamedPattern } from '../../matching/named-value.ts';

/** A number with a valid area, group and serial, with any separator. */
const NUMBER = '(?!000|666|9)\\d{3}[ .-]?(?!00)\\d{2}[ .-]?(?!0000)\\d{4}';

const WHOLE = new RegExp(`^${NUMBER}$`);

const PATTERN =
  /(?!000|666|9)\d{3}(?:-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])|(?<sign>[ .])(?!00)\d{2}\k<sign>(?!0000)\d{4}(?![\w-]|[ .]\d))/;
const digits = memoizeValue(() => buildDigitProfile(PATTERN));

export const ssn: readonly Detector[] = [
  {
    id: 'ssn.us',
    detector: 'ssn',
    tags: ['personal.pii.ssn'],
    severity: 'high',
    strength: 'shape',
    description:
      'US social security numbers with dashes, blanks or dots, but for areas, groups and serials that are never given out.',
    anchors: ['(?<![\\w-])\\d{3}-\\d{2}-\\d', '(?<![\\w.-])\\d{3}[ .]\\d{2}[ .]\\d'],
    pattern: PATTERN,
    get digit_profile() {
      return digits();
    },
    validate: (value) => value !== '078-05-1120' && value !== '219-09-9999',
    examples: {
      hits: ['SSN «123-45-6789».', 'a\\n«536-90-4399»', 'id «536 90 4399»', 'id «536.90.4399».'],
      misses: [
        '000-45-6789',
        '666-45-6789',
        '923-45-6789',
        '123-00-6789',
        '123-45-0000',
        '123-45-67890',
        '1123-45-6789',
        'A123-45-6789',
        '123 45-6789',
        '123 45 6789 1234',
      ],
    },
  },
  {
    id: 'ssn.us_beside_its_name',
    detector: 'ssn',
    tags: ['personal.pii.ssn'],
    severity: 'high',
    strength: 'shape',
    description:
      'US social security numbers with spaces or without separators, next to `SSN` or `social security number`.',
    anchors: ['(?i)\\bsocial[ _-]security', '(?i)(?<![A-Za-z])ssn'],
    pattern: buildNamedPattern(['ssn', 'social[ _-]security'], NUMBER),
    member: {
      key: /^(?:ssn|social[ _-]?security(?:[ _-]?(?:number|num|no))?)$/i,
      validate: (value) => WHOLE.test(value),
    },
    examples: {
      hits: [
        'SSN: «123 45 6789»',
        'social security number is «123456789»',
        '"ssn": "«123456789»"',
        'the SSN on file («141903333») is',
      ],
      misses: ['SSN: 12345', 'ssn 000456789', 'order 123456789'],
    },
  },
];
