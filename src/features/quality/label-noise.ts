import type { Category } from './category.ts';
import type { CorpusRow } from './corpus.ts';

/**
 * Above this share of neighbouring characters that repeat or continue a sequence, a labelled value is a placeholder.
 * Random base62 has about .05, `1234567890` has 1.
 */
export const SEQUENCE_SHARE_MAX = 0.55;

/** Types of labels that name an identifier or an address, which the vendors publish, and no credential. */
const PUBLIC_TYPE = /(?:^|[-_.])(?:id|host|url|name|username)(?:\.\d+)?$/i;

/** Domains that RFC 2606 and RFC 6761 reserve for documentation and tests. */
const RESERVED_DOMAIN = /(?:^|[@.])(?:example\.(?:com|net|org)|[\w-]+\.(?:test|example|invalid|localhost))$/i;

/** Addresses that RFC 5737, RFC 3849, RFC 1918 and RFC 1122 reserve for documentation, private networks and the host. */
const RESERVED_ADDRESS =
  /^(?:192\.0\.2|198\.51\.100|203\.0\.113|192\.168|10|127|172\.(?:1[6-9]|2\d|3[01]))\.|^2001:0?db8:/i;

const READERS: Partial<Record<Category, (value: string, type: string) => boolean>> = {
  secrets: (value, type) => measureSequence(value) > SEQUENCE_SHARE_MAX || PUBLIC_TYPE.test(type),
  pii: (value) =>
    RESERVED_DOMAIN.test(value) || RESERVED_ADDRESS.test(value) || isRepeatedNumber(value.replace(/\D/g, '')),
};

/**
 * Returns whether the label of a positive row is noise: each labelled value is a placeholder, a public identifier or a
 * reserved value, so that a detector is right to stay silent. Rows are never noise for what a detector found or missed.
 * Injections and commands have no such rule, because a program cannot tell whether a text holds an attack.
 */
export function isLabelNoise(category: Category, { text, labels, type }: CorpusRow): boolean {
  const read = READERS[category];
  if (read === undefined || labels.length === 0) return false;
  return labels.every((label) => read(text.slice(label.start, label.end), type ?? label.type));
}

/** Returns the share of neighbouring characters that are equal or next to each other in Unicode, from 0 to 1. */
export function measureSequence(value: string): number {
  let close = 0;
  for (let at = 1; at < value.length; at += 1)
    if (Math.abs(value.charCodeAt(at) - value.charCodeAt(at - 1)) <= 1) close += 1;
  return value.length < 2 ? 0 : close / (value.length - 1);
}

/** The shortest number that counts as a sequence, in digits. Short ones repeat by chance. */
const DIGITS_MIN = 8;

function isRepeatedNumber(digits: string): boolean {
  return digits.length >= DIGITS_MIN && measureSequence(digits) > 0.8;
}
