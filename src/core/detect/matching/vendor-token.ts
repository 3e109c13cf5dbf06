import type { Detector } from './detector.ts';
import { memoizeValue } from './lazy-value.ts';
import { isCodeName, isLongWorded, isUnmasked } from './placeholders.ts';
import { BASE32, BASE36, BASE62, DIGIT_ALPHABET, HEX_ALPHABET, sampleBody } from './sample-text.ts';

/** A run of characters in a token: its class and bounds in the pattern, and the alphabet of samples. */
export interface CharacterRun {
  readonly units: string;
  readonly least: number;
  readonly most: number;
  readonly alphabet: string;
}

/** A literal, one of several literals, or a run. */
export type TokenPart = string | readonly string[] | CharacterRun;

/**
 * If only one length is documented, the most is extended by this factor and sum: vendors lengthen their tokens, and
 * the rest of a longer one would stay in the text.
 */
const MOST_FACTOR = 2;
const MOST_MORE = 32;

/** Returns a builder for runs of one class: the class in the pattern, and the alphabet of samples. */
export function defineRun(units: string, alphabet: string) {
  return (least: number, most: number = least * MOST_FACTOR + MOST_MORE): CharacterRun => ({
    units,
    least,
    most,
    alphabet,
  });
}

export const hex = defineRun('[A-Fa-f0-9]', HEX_ALPHABET);
export const digits = defineRun('[0-9]', DIGIT_ALPHABET);
export const lower = defineRun('[a-z0-9]', BASE36);
export const upper = defineRun('[A-Z0-9]', BASE32);
export const alnum = defineRun('[A-Za-z0-9]', BASE62);
/** Letters, digits, `_` and `-`: base64url, and what many vendors allow. */
export const word = defineRun('[\\w-]', BASE62);
/** The same with `=` and `.`. */
export const wide = defineRun('[\\w.=-]', BASE62);
export const base64 = defineRun('[A-Za-z0-9+/=_-]', BASE62);

/**
 * Builds a detector for tokens with a form of their own. `parts` are in order and begin with a literal, the vendor's
 * prefix; `what` is the subject of the description, `Apify API tokens`. The examples are generated from the parts.
 */
export function buildTokenDetector(id: string, what: string, ...parts: readonly TokenPart[]): Detector {
  const prefixes = [parts[0] as string | readonly string[]].flat();
  const prefixLeast = Math.min(...prefixes.map(({ length }) => length));
  const pattern = memoizeValue(
    () => new RegExp(`${prefixLeast <= FAINT_UNITS ? IN_NO_RUN : ''}${parts.map(getPattern).join('')}`),
  );
  return {
    id,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${id.slice(0, id.indexOf('.'))}`],
    severity: 'critical',
    strength: 'proof',
    description: `${what}: ${parts.map(describePart).join(', ')}.`,
    get anchors() {
      return prefixes.map((prefix) => getAnchor(prefix, parts[1]));
    },
    get pattern() {
      return pattern();
    },
    validate: (value) => isTokenBody(value.slice(prefixLeast)),
    get examples() {
      return getExamples(prefixes, parts);
    },
  };
}

function getExamples(prefixes: readonly string[], parts: readonly TokenPart[]): Detector['examples'] {
  const samples = prefixes.map((prefix) => prefix + parts.slice(1).map(buildSample).join(''));
  return {
    hits: samples.map((text) => `token: "«${text}»", next`),
    misses: samples.flatMap((text, at) => [
      text.slice(0, -1),
      `n${text}`,
      prefixes[at]! + 'x'.repeat(text.length),
    ]),
  };
}

/**
 * Anchors are the prefix and, if it is short, the next units, which separate `pat` from `path` and `pattern`. Longer
 * runs would add states to the automaton, because other anchors begin inside the run.
 */
const ANCHOR_UNITS = { short: 3, run: 5, most: 7 };

/** A prefix this short occurs by chance in a long run of base64, after one of its signs, where it does not count. */
const FAINT_UNITS = 4;
const IN_NO_RUN = '(?<![A-Za-z0-9+/_-]{16}[+/-])';

function getAnchor(prefix: string, next: TokenPart | undefined): string {
  const head = `\\b${escapePattern(prefix.slice(0, ANCHOR_UNITS.most))}`;
  const isShort = prefix.length <= ANCHOR_UNITS.short;
  return isShort && next !== undefined && typeof next === 'object' && 'units' in next
    ? `${head}${next.units}{${Math.min(next.least, ANCHOR_UNITS.run)}}`
    : head;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function getPattern(part: TokenPart): string {
  if (typeof part === 'string') return escapePattern(part);
  if ('units' in part) return `${part.units}{${part.least},${part.most}}`;
  return `(?:${part.map(escapePattern).join('|')})`;
}

function buildSample(part: TokenPart): string {
  if (typeof part === 'string') return part;
  return 'units' in part ? sampleBody(part.least, part.alphabet) : part[0]!;
}

function describePart(part: TokenPart): string {
  if (typeof part === 'string') return `\`${part}\``;
  if ('units' in part) return `at least ${part.least} of ${part.units}`;
  return part.map((literal) => `\`${literal}\``).join(' or ');
}

/** Returns whether a text can be the body of a token: unmasked, mixed, and no name in code. */
function isTokenBody(body: string): boolean {
  return isUnmasked(body) && isMixed(body) && (/\d/.test(body) || !isLongWorded(body) || !isCodeName(body));
}

/**
 * Returns whether a text is neither a word of prose or code nor a number: letters with a digit, letters of
 * both cases, or long base 16.
 */
function isMixed(text: string): boolean {
  if (/^[\da-f-]{24,}$/i.test(text)) return true;
  return /[A-Za-z]/.test(text) && (/\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)));
}
