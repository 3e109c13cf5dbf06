import { iban } from '../../core/detect/detectors/personal/iban.ts';
import type { Category } from './category.ts';
import type { CorpusRow } from './corpus.ts';

/**
 * Above this share of neighbouring characters that repeat or continue a sequence, a value is a placeholder. Random
 * base62 has about .07, `1234567890` and `AbCdEfGh` have 1.
 */
export const SEQUENCE_SHARE_MAX = 0.55;

/** Types of labels that name an identifier or an address, which the vendors publish, and no credential. */
const PUBLIC_TYPE = /(?:^|[-_.])(?:id|host|url|name|username)(?:\.\d+)?$/i;

/** Domains that RFC 2606 and RFC 6761 reserve for documentation and tests. */
const RESERVED_DOMAIN = /(?:^|[@.])(?:example\.(?:com|net|org)|[\w-]+\.(?:test|example|invalid|localhost))$/i;

/**
 * Addresses without an owner (RFC 6890, RFC 5771, RFC 4291): documentation, private networks, the host, the link,
 * multicast, and IPv4 addresses written as IPv6.
 */
const RESERVED_ADDRESS =
  /^(?:(?:192\.0\.2|198\.51\.100|203\.0\.113|192\.168|0|10|127|169\.254|255\.255\.255|22[4-9]|23\d|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|::|2001:0?db8:|64:ff9b:|fe[89ab][0-9a-f]:|f[cdf][0-9a-f]{2}:)/i;

/** The forms of international account numbers (ISO 13616). */
const ACCOUNT = new RegExp(`^(?:${iban[0]!.pattern.source})$`, 'i');
/** Types of labels that name account numbers, and one that names addresses on the web, which identify no person. */
const ACCOUNT_TYPE = /^IBAN/i;
const WEB_TYPE = /^URL$/i;
const ADDRESS_TYPE = /^IP/i;
/** A whole text of up to twelve digits and separators can be a number of anything. */
const BARE_NUMBER = /^\s*(?:\d[ ./-]{0,2}){4,12}\s*$/;

/** Runs of a text that could be a value, in the texts of benign rows, which have no labelled value. */
const VALUE_RUN = /[\w+/.-]{10,}/g;

type NoiseReader = (value: string, type: string, text: string) => boolean;

const READERS: Partial<Record<Category, NoiseReader>> = {
  secrets: (value, type) => measureSequence(value) > SEQUENCE_SHARE_MAX || PUBLIC_TYPE.test(type),
  pii: (value, type, text) =>
    RESERVED_DOMAIN.test(value) ||
    RESERVED_ADDRESS.test(value) ||
    isRepeatedNumber(value.replace(/\D/g, '')) ||
    (ACCOUNT_TYPE.test(type) && !ACCOUNT.test(value)) ||
    WEB_TYPE.test(type) ||
    (!ADDRESS_TYPE.test(type) && BARE_NUMBER.test(text)),
};

/**
 * Returns whether the label of a row is noise. A positive row: each labelled value is a placeholder, a public
 * identifier or a reserved value, so that a detector is right to stay silent; or it occurs again without a label, so
 * that a detector is right to find the other place. A benign row: its text holds a placeholder, because other rows
 * label such strings as secrets. Rows are never noise for what a detector found or missed. Injections and commands
 * have no such rule, because a program cannot tell whether a text holds an attack.
 */
export function isLabelNoise(category: Category, { text, labels, type, label }: CorpusRow): boolean {
  const read = READERS[category];
  if (read === undefined) return false;
  if (label === 'benign') return category === 'secrets' && holdsPlaceholder(text);
  if (labels.length === 0) return false;
  return labels.every(
    ({ start, end, type: own }) =>
      read(text.slice(start, end), type ?? own, text) ||
      (category === 'secrets' && occursUnlabelled(text.slice(start, end), text, labels)),
  );
}

function holdsPlaceholder(text: string): boolean {
  return (text.match(VALUE_RUN) ?? []).some((run) => measureSequence(run) > SEQUENCE_SHARE_MAX);
}

/** Returns whether a value occurs more often in a text than it is labelled. */
function occursUnlabelled(value: string, text: string, labels: CorpusRow['labels']): boolean {
  const labelled = labels.filter(({ start, end }) => text.slice(start, end) === value).length;
  return text.split(value).length - 1 > labelled;
}

/**
 * Returns the share of neighbouring characters that are equal or next to each other in Unicode, whatever their case,
 * from 0 to 1.
 */
export function measureSequence(cased: string): number {
  const value = cased.toLowerCase();
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
