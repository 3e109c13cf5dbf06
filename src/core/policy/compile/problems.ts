import { closest, distance } from 'fastest-levenshtein';
import type { DocumentProblem } from '../../types/index.ts';

/** The location of a record: the file, and the path within it. */
export interface DocumentLocation {
  readonly file: string;
  /** `policies[2]`; empty for the whole file. */
  readonly path: string;
}

/** Returns the location of a member or an element below a location. */
export function buildChildLocation(
  { file, path }: DocumentLocation,
  ...steps: readonly (string | number)[]
): DocumentLocation {
  let longer = path;
  for (const step of steps) {
    if (typeof step === 'number') longer += `[${step}]`;
    else if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) longer += `[${JSON.stringify(step.slice(0, 100))}]`;
    else longer += longer === '' ? step : `.${step}`;
  }
  return { file, path: longer };
}

/** Begins the predicate for an unknown key, which the message names after these words. */
export const UNKNOWN_KEY = 'unknown key';

/** Joins a subject and a predicate: "`policies[2].action` is missing", "unknown key `policies[2].acton`". */
export function joinPredicate(subject: string, predicate: string): string {
  return predicate.startsWith(UNKNOWN_KEY)
    ? `${UNKNOWN_KEY} ${subject}${predicate.slice(UNKNOWN_KEY.length)}`
    : `${subject} ${predicate}`;
}

/** Builds a problem whose message names the path: "`policies[2].action` is missing." */
export function buildDocumentProblem(
  { file, path }: DocumentLocation,
  predicate: string,
  level: DocumentProblem['level'] = 'error',
): DocumentProblem {
  const subject = path === '' ? `\`${file}\`` : `\`${path}\``;
  const words = joinPredicate(subject, predicate);
  return { file, path, message: /[.?!]$/.test(words) ? words : `${words}.`, level };
}

/** Terms of other products. A term counts only if the name it maps to is one of the choices. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  alert: ['flag'],
  anonymize: ['redact'],
  answer: ['output'],
  approve: ['require_approval'],
  ask: ['require_approval'],
  completion: ['output'],
  deny: ['block'],
  discord: ['webhook'],
  forbid: ['block'],
  log: ['flag'],
  mask: ['redact'],
  opsgenie: ['incident'],
  pagerduty: ['paging'],
  pass: ['allow'],
  permit: ['allow'],
  prompt: ['input'],
  proxy: ['gateway'],
  reject: ['block'],
  request: ['input'],
  response: ['output'],
  shadow: ['monitor'],
  slack: ['chat-webhook'],
  smtp: ['email'],
  standalone: ['sidecar'],
  tags: ['data_tags'],
  tool: ['action'],
  tool_call: ['action'],
  verbose: ['debug'],
  warning: ['flag', 'warn'],
};

/**
 * Returns "; did you mean `data_tags`?" if a known name is similar or is this product's term, else an empty string.
 */
export function suggestName(written: string, known: readonly string[]): string {
  if (known.length === 0 || written.length > 64) return '';
  const name = written.toLowerCase();
  const suggestion = Object.hasOwn(SYNONYMS, name)
    ? SYNONYMS[name]!.find((each) => known.includes(each))
    : undefined;
  const longer =
    name.length > 2
      ? known.find((each) => each.startsWith(name) && /^[_-]/.test(each.slice(name.length)))
      : undefined;
  const found = suggestion ?? longer ?? findNearest(written, known);
  return found === null ? '' : `; did you mean \`${found}\`?`;
}

function findNearest(written: string, known: readonly string[]): string | null {
  const nearest = closest(written.toLowerCase(), [...known]);
  // Two transposed letters have a distance of two.
  const near = nearest.length < 4 ? 1 : Math.max(2, Math.floor(nearest.length / 3));
  return distance(written.toLowerCase(), nearest) <= near ? nearest : null;
}

/**
 * Matches short ordinary words and numbers. Any other value may be a misplaced credential and is only described.
 */
const SHOWABLE = /^[A-Z]?[a-z0-9*][a-z0-9 ._:*-]{0,15}$/;

/** Describes a written value in a message: "the string `yes`", "a string of 40 characters", "a list". */
export function describeValue(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'number' || typeof value === 'boolean') return `\`${value}\``;
  if (value === '') return 'an empty string';
  if (typeof value !== 'string') return 'of another type';
  return SHOWABLE.test(value) ? `the string \`${value}\`` : `a string of ${value.length} characters`;
}

const UNITS: Readonly<Record<string, string>> = {
  days: 'days',
  hours: 'hours',
  mb: 'megabytes',
  minute: 'calls per minute',
  ms: 'milliseconds',
  seconds: 'seconds',
};

/**
 * Describes a value of the wrong type and its fix: "; it is the string `90d`. Write the number alone, in days".
 *
 * @param type the required JSON type
 * @param key the name of the key, whose last word may be the unit
 */
export function describeTypeFix(type: string, value: unknown, key: string): string {
  const got = describeGotValue(value);
  if (got === '') return '';
  if (type === 'boolean' && typeof value === 'string')
    return `${got}, and YAML 1.2 has no other words for these`;
  if (type === 'array' && typeof value === 'string')
    return SHOWABLE.test(value) ? `${got}. Write \`[${value}]\`` : `${got}. Put it into square brackets`;
  const unit = UNITS[key.slice(key.lastIndexOf('_') + 1)];
  if ((type === 'integer' || type === 'number') && typeof value === 'string' && unit !== undefined)
    return `${got}. Write the number alone, in ${unit}`;
  return got;
}

/** Describes a written value at the end of a message; empty for one that no message may describe. */
export function describeGotValue(value: unknown): string {
  return value === undefined ? '' : `; it is ${describeValue(value)}`;
}

/** Returns "`a`, `b` or `c`". */
export function formatNames(names: readonly unknown[]): string {
  const quoted = names.map((name) => `\`${String(name)}\``);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`;
}
