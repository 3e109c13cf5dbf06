import { hasVariedCharacters } from '../../matching/check-digits.ts';
import { isLuhn } from '../../matching/checksums.ts';
import type { Detector } from '../../matching/detector.ts';
import { buildDigitProfile } from '../../matching/digit-profile.ts';
import { memoizeValue } from '../../matching/lazy-value.ts';
import { normalizeCode } from '../../matching/normalize-code.ts';

const ANCHORS = ['(?<![\\d.])[2-6]\\d{3}[ -]\\d{3}', '(?<![\\d.])[2-6]\\d{7}', '(?<![\\d.])1800[ -]?\\d{3}'];

const NUMBER =
  /(?<![\da-f]{4})(?:3[47](?:[ -]?\d){13}|(?:1800|2131)(?:[ -]?\d){11}|3[0689](?:[ -]?\d){12}|(?:[2456]\d|3[1-35])(?:[ -]?\d){14})(?!\d|\.\d|-?[\da-f]{4})/;
const numberDigits = memoizeValue(() => buildDigitProfile(NUMBER));

const LONG_NUMBER =
  /(?<![\da-f]{4}|[A-Za-z_]\(|["'](?:sku|ean|gtin|upc|barcode|size|ts|id)["']: ?["']?)[456](?:\d{12}|(?:[ -]?\d){16,18})(?!\d|\.\d|-?[\da-f]{4})/;
const longNumberDigits = memoizeValue(() => buildDigitProfile(LONG_NUMBER));

export const creditCard: readonly Detector[] = [
  {
    id: 'card.number',
    detector: 'credit_card',
    tags: ['personal.pii.card', 'personal.financial.card'],
    severity: 'high',
    strength: 'proof',
    description:
      'Payment card numbers (ISO/IEC 7812) of the usual length of their issuer, 14 to 16 digits, with a right Luhn digit; with spaces, dashes or neither.',
    anchors: ANCHORS,
    pattern: NUMBER,
    get digit_profile() {
      return numberDigits();
    },
    validate: (value) => isLuhn(value) && isCard(normalizeCode(value)),
    validateDigits: isCard,
    validate_work: 3,
    examples: {
      hits: [
        `card «${'4111'} 1111 1111 1111» exp`,
        `«${'4111'} 1111 1111 1111» 123-45`,
        `«${'3782'}-822463-10005»`,
        `«${'5555'}555555554444»`,
        `«${'6011'}000990139424»`,
        `«${'2223'}003122003222»`,
        `«${'1800'}72992103979»`,
      ],
      misses: [
        `${'4111'} 1111 1111 1112`,
        `${'4111'}1111`,
        '4000000000000000.5',
        `3f76d4${'4111'}111111111111f0564a`,
        `49785456-1196-4523-8e9e-86d858`,
        '9999999999999995',
        '2026-01-31 12:00:00',
      ],
    },
  },
  {
    id: 'card.long_number',
    detector: 'credit_card',
    tags: ['personal.pii.card', 'personal.financial.card'],
    severity: 'high',
    strength: 'proof',
    description:
      'Payment card numbers of 17 to 19 digits, and those of 13 without separators, with a right Luhn digit.',
    anchors: ANCHORS,
    pattern: LONG_NUMBER,
    get digit_profile() {
      return longNumberDigits();
    },
    validate: (value) => isLuhn(value) && isCard(normalizeCode(value)),
    validateDigits: isCard,
    validate_work: 3,
    examples: {
      hits: [`«${'4222'}222222222»`, `«${'6304'} 9001 7740 2924 416»`],
      misses: [
        `${'4222'}222222223`,
        '4000000000000',
        `{"sku": "${'4222'}222222222"}`,
        `KQU(${'6304'}900177402924416)`,
      ],
    },
  },
];

/** Ranges of leading digits, both ends included, and the card lengths of each range. */
const ISSUERS: readonly {
  readonly from: string;
  readonly to: string;
  readonly lengths: readonly number[];
}[] = [
  { from: '4', to: '4', lengths: [13, 16, 19] },
  { from: '51', to: '55', lengths: [16] },
  { from: '2221', to: '2720', lengths: [16] },
  { from: '34', to: '34', lengths: [15] },
  { from: '37', to: '37', lengths: [15] },
  { from: '300', to: '305', lengths: [14] },
  { from: '36', to: '36', lengths: [14] },
  { from: '38', to: '39', lengths: [14] },
  { from: '3528', to: '3589', lengths: [16] },
  { from: '1800', to: '1800', lengths: [15] },
  { from: '2131', to: '2131', lengths: [15] },
  { from: '6011', to: '6011', lengths: [16, 19] },
  { from: '644', to: '659', lengths: [16, 19] },
  { from: '62', to: '62', lengths: [16, 17, 18, 19] },
  { from: '60', to: '60', lengths: [16] },
  { from: '50', to: '50', lengths: [16, 19] },
  { from: '56', to: '58', lengths: [16, 19] },
  { from: '63', to: '63', lengths: [16, 19] },
  { from: '67', to: '67', lengths: [16, 19] },
];

function isCard(digits: string): boolean {
  return isLuhn(digits) && hasVariedCharacters(digits) && isIssued(digits);
}

function isIssued(digits: string): boolean {
  return ISSUERS.some(({ from, to, lengths }) => {
    const head = digits.slice(0, from.length);
    return head >= from && head <= to && lengths.includes(digits.length);
  });
}
