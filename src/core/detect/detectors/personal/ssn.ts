import type { Detector } from '../../matching/detector.ts';
import { buildDigitProfile } from '../../matching/digit-profile.ts';
import { memoizeValue } from '../../matching/lazy-value.ts';
import { buildNamedPattern } from '../../matching/named-value.ts';

/** A number with a valid area, group and serial, with any separator. */
const NUMBER = '(?!000|666|9)\\d{3}[ .-]?(?!00)\\d{2}[ .-]?(?!0000)\\d{4}';

const WHOLE = new RegExp(`^${NUMBER}$`);

const PATTERN =
  /(?!000|666|9)\d{3}(?:-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])|\.(?!00)\d{2}\.(?!0000)\d{4}(?![\w-]|[ .]\d))/;
const digits = memoizeValue(() => buildDigitProfile(PATTERN));

const SPACED = '(?!000|666|9)\\d{3} (?!00)\\d{2} (?!0000)\\d{4}';
const WHOLE_SPACED = new RegExp(`^${SPACED}$`);
const CUE =
  '(?<![a-z])(?:ssns?|ss ?(?:#|no|num|number)|social[ _-]?sec(?:urity)?|tax(?:[ _-]?payer)?[ _-]?(?:id|ident\\w{1,12})|tin)(?![a-z])';
/** The spaced form has 11 units; before it and after it the cue can be some words away. */
const NEAR_CUE = new RegExp(
  `${SPACED}(?![\\w-]|[ .]\\d)(?:(?<=${CUE}[^]{0,40}[\\d ]{11})|(?=[^]{0,16}${CUE}))`,
  'i',
);

export const ssn: readonly Detector[] = [
  {
    id: 'ssn.us',
    detector: 'ssn',
    tags: ['personal.pii.ssn'],
    severity: 'high',
    strength: 'shape',
    description:
      'US social security numbers with dashes or dots, but for areas, groups and serials that are never given out.',
    anchors: ['(?<![\\w-])\\d{3}-\\d{2}-\\d', '(?<![\\w.-])\\d{3}\\.\\d{2}\\.\\d'],
    pattern: PATTERN,
    get digit_profile() {
      return digits();
    },
    validate: (value) => value !== '078-05-1120' && value !== '219-09-9999',
    examples: {
      hits: ['SSN «123-45-6789».', 'a\\n«536-90-4399»', 'id «536.90.4399».'],
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
        'id 536 90 4399',
      ],
    },
  },
  {
    id: 'ssn.us_near_cue',
    detector: 'ssn',
    tags: ['personal.pii.ssn'],
    severity: 'high',
    strength: 'shape',
    description:
      'US social security numbers with spaces, near a word such as `SSN`, `social security` or `tax ID`.',
    anchors: ['(?<![\\w.-])\\d{3} \\d{2} \\d'],
    pattern: NEAR_CUE,
    try_work: 30,
    member: {
      key: /^(?:tax|taxpayer)[ _-]?id(?:entification)?(?:[ _-]?(?:number|num|no))?$|^tin$/i,
      validate: (value) => WHOLE_SPACED.test(value),
    },
    examples: {
      hits: [
        'The SSN of Laura Berg, as given by telephone: «536 90 4399».',
        'SSN\n«536 90 4399»',
        '«536 90 4399» is my social security number',
        'tax ID «536 90 4399»',
        '"tax_id": "«536 90 4399»"',
        'ss# «536 90 4399»',
      ],
      misses: [
        'qty 100 20 3000 units',
        'pages 123 45 6789 of the log',
        'tel. ext 301 22 1045',
        'order 536 90 4399 shipped',
        'listing 536 90 4399',
        'SSN 000 45 6789',
        'SSN 123 45 6789 1234',
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
