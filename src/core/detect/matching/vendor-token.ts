import type { Detector } from './detector.ts';
import { lazily } from './lazily.ts';
import { isUnmasked } from './placeholders.ts';
import { BASE62, body, DIGITS, HEX, LOWER, UPPER } from './sample-text.ts';

/** A run of characters in a token: its class and bounds as a pattern has them, and what samples are made of. */
export interface Run {
  readonly units: string;
  readonly least: number;
  readonly most: number;
  readonly alphabet: string;
}

/** A literal, one of several literals, or a run. */
export type Part = string | readonly string[] | Run;

/**
 * Where only one length is known the most is left open by this factor and sum: vendors lengthen their tokens,
 * and what is left over of a longer one would stay in the text.
 */
const MOST_FACTOR = 2;
const MOST_MORE = 32;

/** A kind of run: its class, as a pattern has it, and what samples of it are made of. */
export function run(units: string, alphabet: string) {
  return (least: number, most: number = least * MOST_FACTOR + MOST_MORE): Run => ({
    units,
    least,
    most,
    alphabet,
  });
}

export const hex = run('[A-Fa-f0-9]', HEX);
export const digits = run('[0-9]', DIGITS);
export const lower = run('[a-z0-9]', LOWER);
export const upper = run('[A-Z0-9]', UPPER);
export const alnum = run('[A-Za-z0-9]', BASE62);
/** Letters, digits, `_` and `-`: base64url, and what many vendors allow. */
export const word = run('[\\w-]', BASE62);
/** With `=` and `.` too. */
export const wide = run('[\\w.=-]', BASE62);
export const base64 = run('[A-Za-z0-9+/=_-]', BASE62);

/**
 * A token that its own form gives away. `parts` are in order and begin with a literal, the vendor's prefix;
 * `what` is the sentence's subject, `Apify API tokens`. The examples are made from the parts.
 */
export function token(id: string, what: string, ...parts: readonly Part[]): Detector {
  const prefixes = [parts[0] as string | readonly string[]].flat();
  const prefix_least = Math.min(...prefixes.map(({ length }) => length));
  const pattern = lazily(
    () => new RegExp(`${prefix_least <= FAINT_UNITS ? IN_NO_RUN : ''}${parts.map(patternOf).join('')}`),
  );
  return {
    id,
    detector: 'api_key',
    tags: [`secret.credential.api_key.${id.slice(0, id.indexOf('.'))}`],
    severity: 'critical',
    strength: 'proof',
    description: `${what}: ${parts.map(inWords).join(', ')}.`,
    get anchors() {
      return prefixes.map((prefix) => anchorOf(prefix, parts[1]));
    },
    get pattern() {
      return pattern();
    },
    validate: (value) => isUnmasked(value.slice(prefix_least)) && isMixed(value.slice(prefix_least)),
    get examples() {
      return examplesOf(prefixes, parts);
    },
  };
}

function examplesOf(prefixes: readonly string[], parts: readonly Part[]): Detector['examples'] {
  const samples = prefixes.map((prefix) => prefix + parts.slice(1).map(sample).join(''));
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
 * The prefix, and for a short one the first units after it, so that `path` and `pattern` are told from `pat`. No
 * longer run: while one goes on others begin in it, and each such pair would be a state of its own.
 */
const ANCHOR_UNITS = { short: 3, run: 5, most: 7 };

/** A prefix this short turns up by chance in a long run of base64, behind one of its signs: there it counts for nothing. */
const FAINT_UNITS = 4;
const IN_NO_RUN = '(?<![A-Za-z0-9+/_-]{16}[+/-])';

function anchorOf(prefix: string, next: Part | undefined): string {
  const head = `\\b${escaped(prefix.slice(0, ANCHOR_UNITS.most))}`;
  const is_short = prefix.length <= ANCHOR_UNITS.short;
  return is_short && next !== undefined && typeof next === 'object' && 'units' in next
    ? `${head}${next.units}{${Math.min(next.least, ANCHOR_UNITS.run)}}`
    : head;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function patternOf(part: Part): string {
  if (typeof part === 'string') return escaped(part);
  if ('units' in part) return `${part.units}{${part.least},${part.most}}`;
  return `(?:${part.map(escaped).join('|')})`;
}

function sample(part: Part): string {
  if (typeof part === 'string') return part;
  return 'units' in part ? body(part.least, part.alphabet) : part[0]!;
}

function inWords(part: Part): string {
  if (typeof part === 'string') return `\`${part}\``;
  if ('units' in part) return `at least ${part.least} of ${part.units}`;
  return part.map((literal) => `\`${literal}\``).join(' or ');
}

/** No word of prose or of code, and no number: letters with a digit, or letters of both cases, or long base 16. */
function isMixed(text: string): boolean {
  if (/^[\da-f-]{24,}$/i.test(text)) return true;
  return /[A-Za-z]/.test(text) && (/\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)));
}
