import type { Severity } from '../../types/index.ts';
import { isMadeOfWords, isPlaceholder } from './placeholders.ts';

/**
 * The severity of secrets by their evidence. A word next to a value is not evidence enough to stop work: the value
 * must look like a secret too. Signs of a test, an example or a local service lower a form that fits.
 */

const STRONG_UNITS_MIN = 8;
const CLASSES_MIN = 3;
/** A value of two classes must be this long. */
const LONG_UNITS_MIN = 12;

/** Words of values that are made up for a test or a document. */
const MADE_UP =
  /test|example|sample|dummy|fake|mock|demo|passw(?:or)?d|passphrase|secret|changeit|qwert|letmein|foobar|hunter|1234|abcd|(?:^|[^a-z])(?:admin|root|user|guest|foo|bar|baz)(?![a-z])/i;

/**
 * Returns whether a password is one that only its owner knows, as far as the value shows it: long, of several classes
 * of characters, and not made of words. Linear.
 */
export function isStrongPassword(value: string): boolean {
  if (value.length < STRONG_UNITS_MIN || MADE_UP.test(value) || MADE_UP.test(readLeet(value))) return false;
  // Sentences in any language, as in files of translations.
  if (/\s/.test(value) && !/\d/.test(value)) return false;
  if (isPlaceholder(value) || isMadeOfWords(value)) return false;
  // A word with a number or a sign behind it, and words with signs between them.
  if (/^[A-Z]?[a-z]+\d{0,4}[!?.$*]?$|^[A-Z]?[a-z]+(?:[ _./:,@-]+[A-Z]?[a-z]+)+[.!?:]?$/.test(value))
    return false;
  const classes = [/\p{Ll}/u, /\p{Lu}/u, /\d/, /[^\p{L}\p{M}\p{N}\s]/u].filter((each) =>
    each.test(value),
  ).length;
  return classes >= CLASSES_MIN || (classes === 2 && /\d/.test(value) && value.length >= LONG_UNITS_MIN);
}

const LEET: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
};

/** Reads digits and signs as the letters that they stand for in `p4$$w0rd`. */
function readLeet(value: string): string {
  return value.replace(/[013457@$]/g, (sign) => LEET[sign]!);
}

/** Grades a password that is found by the word before it: `high` if it is strong, else `low`. */
export function gradePassword(value: string): Severity {
  return isStrongPassword(value) ? 'high' : 'low';
}

/** Grades a password in a place that is only for passwords: `critical` if it is strong, else `medium`. */
export function gradePlacedPassword(value: string): Severity {
  return isStrongPassword(value) ? 'critical' : 'medium';
}

/** Grades a key that is found by the name before it. */
export function gradeNamedKey(value: string): Severity {
  return /test|example|sample|dummy|fake|mock|demo|(?:^|[^a-z])(?:foo|bar)(?![a-z])|1234567|abcdef|deadbeef/i.test(
    value,
  )
    ? 'medium'
    : 'high';
}

/** Hosts of the same machine, and names that are reserved for documents and tests (RFC 2606 and 6761). */
const LOCAL_OR_EXAMPLE =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|host\.docker\.internal|(?:[\w-]+\.){0,8}(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost)|(?:[\w-]+\.){0,8}(?:example|domain|hostname|host|yourdomain|mydomain|foo|bar)\.(?:com|org|net|io)|h|host|hostname|server|myhost)$/i;
/** Passwords that documents write. The default passwords of products count at a host elsewhere: they open it. */
const WRITTEN_PASSWORD =
  /^(?:my[_-]?|your[_-]?|some[_-]?|the[_-]?|test|a|super)?(?:p(?:ass)?(?:w(?:or)?d)?|passphrase|secret|pw|changeme|user(?:name)?|foo|bar|baz|test|example|token|key|123\d{0,6}|abc\d{0,4}|xxx+)(?:word)?\d{0,3}$/i;

/** Grades an address with a password: `medium` if it is local, an example, or has a password of documents. */
export function gradeAddress(address: string): Severity {
  const rest = address.slice(address.indexOf('://') + 3);
  const at = rest.lastIndexOf('@');
  const pair = rest.slice(0, at);
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1);
  const host = rest.slice(at + 1).replace(/(?::\d{1,5})?(?:[/?#,].*)?$/, '');
  const plain = password.replace(/%[0-9a-f]{2}/gi, '');
  const isWritten =
    password.length < 4 || WRITTEN_PASSWORD.test(plain) || /^(?:pass(?:word)?|user|secret){2}$/i.test(plain);
  const isSingle = !/[.:]/.test(host) && !isStrongPassword(password);
  return isWritten || isSingle || LOCAL_OR_EXAMPLE.test(host) ? 'medium' : 'critical';
}
