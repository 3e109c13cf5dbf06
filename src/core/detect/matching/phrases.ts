/**
 * Pieces of patterns for phrases of natural language, and the record of a phrase that counts. A word is at most
 * 20 letters, words are apart by at most three signs, and a phrase stays within one sentence: every pattern
 * made of these is bounded.
 */
import type { Severity, Tag } from '../../types/index.ts';
import type { Detector } from './detector.ts';
import { lazily } from './lazily.ts';

/** Separator of two words; also a sign without white space if all words are joined this way. */
export const GAP = String.raw`(?:[\s,*_"\u201c\u201d]{1,3}|[,;:]?[.+|~](?=[^\s.]))`;
/** The same, or nothing. */
export const MAYBE_GAP: string = GAP.replace('{1,3}', '{0,3}');

/**
 * Up to `most` words that do not turn the sentence round (`but`, `then`, ...), as few as will do. What stands
 * between words is in no word: a text can be taken apart in one way only.
 */
export function words(most: number): string {
  return String.raw`(?:(?!(?:but|yet|then|instead|however|nor|so)\b)[a-z\d'\u2019/-]{1,20}${GAP}){0,${most}}?`;
}

/** The beginning of a command: a line, a sentence, a clause, a quotation, or after `please`, `and`, `you must` ... */
export const COMMANDED = String.raw`(?<=(?:^|[.!?:;,>*"'\u201c\u2018(\[{#\u2014\n-])\s{0,3}|\b(?:and|then|please|now|just|must|should|will|also|but|so|to|kindly|immediately|simply|yet|instead|or)\s{1,2})`;

/** Words for the instructions of a model. */
export const RULES =
  '(?:instructions?|instruction (?:hierarchy|set)|directives?|directions|rules?|guidelines?|guidance|guard-?rails?|polic(?:y|ies)|constraints?|restrictions?|limitations?|prompts?|orders|commands|programming|training|protocols?|safeguards?|alignment|filters?)';

/** Anchors for words and beginnings of words, in either case. */
export function anchorsOf(...beginnings: readonly string[]): readonly string[] {
  return beginnings.map((beginning) => String.raw`(?i)\b${beginning}`);
}

/** In the notation of anchors: a unit that may stand in what `GAP` is, and one with which no word begins. */
const GAP_UNIT = '[\\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,;:*_"“”.+|~]';
const NO_WORD = '[^<>(){}=&#]';

/**
 * Anchors for words behind which another one stands, with one of the given beginnings where there are some. Words
 * of requests are words of code too: `export`, `start`, `new`; a unit or two more tells most of them apart.
 */
export function anchorsBefore(
  words: readonly string[],
  beginnings: readonly string[] = [],
): readonly string[] {
  const unit = (at: number): string => `[${[...new Set(beginnings.map((word) => word[at]!))].join('')}]`;
  const next = beginnings.length === 0 ? `${GAP_UNIT}${NO_WORD}` : `${GAP_UNIT}{1,3}${unit(0)}${unit(1)}`;
  return words.map((word) => String.raw`(?i)\b${word}${next}`);
}

/** The source form of a phrase; see `Detector` for anchors, pattern and `back`. */
export interface Phrase {
  /** Unique among the phrases: `previous_instructions`. */
  readonly name: string;
  readonly weight: number;
  readonly description: string;
  readonly anchors: readonly string[];
  readonly back?: Detector['back'];
  /** The source of a pattern; case does not matter unless `is_exact`. */
  readonly pattern: string;
  readonly is_exact?: boolean;
  readonly try_work?: Detector['try_work'];
  readonly validate?: (value: string) => boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** Detectors for the phrases of one kind of injection, with the tag `injection.<kind>`. */
export function phrases(kind: string, list: readonly Phrase[]): readonly Detector[] {
  const tags: readonly [Tag] = [`injection.${kind}`];
  return list.map(
    ({ name, weight, description, anchors, back, pattern, is_exact, try_work, validate, hits, misses }) => {
      const made = lazily(() => new RegExp(pattern, is_exact ? '' : 'i'));
      return {
        id: `injection.${name}`,
        detector: `prompt_${kind}`,
        tags,
        severity: severityOf(weight) ?? 'low',
        strength: 'cue',
        weight,
        description,
        get anchors() {
          return anchors.map(blurred);
        },
        get pattern() {
          return made();
        },
        ...(back === undefined ? {} : { back }),
        ...(try_work === undefined ? {} : { try_work }),
        ...(validate === undefined ? {} : { validate }),
        examples: { hits, misses },
      };
    },
  );
}

/**
 * An anchor in which each letter beyond ASCII stands for its neighbours too: the automaton has a class for every
 * set of letters, and all the letters of twenty languages would make its table several times as large. What is
 * let through wrongly the pattern refuses.
 */
function blurred(anchor: string): string {
  if (/^[\0-\x7f]*$/.test(anchor)) return anchor;
  let text = '';
  let is_class = false;
  for (const unit of anchor.split('')) {
    if (unit === '[') is_class = true;
    if (unit === ']') is_class = false;
    const code = unit.charCodeAt(0);
    const neighbours = code < 0x80 ? 1 : code < 0x2e80 ? 16 : 256;
    const low = code - (code % neighbours);
    const range = `${String.fromCharCode(low)}-${String.fromCharCode(low + neighbours - 1)}`;
    if (neighbours === 1) text += unit;
    else text += is_class ? range : `[${range}]`;
  }
  return text;
}

/** From which sum of weights on phrases are a finding, and from which one a severe one. */
export interface InjectionSums {
  readonly flag_threshold: number;
  readonly block_threshold: number;
}

/** Defaults. */
export const INJECTION_SUMS: InjectionSums = { flag_threshold: 4, block_threshold: 8 };

/** Distances of the sums of other severities from the sum for `high`. */
const CRITICAL_ABOVE = 6;
const MEDIUM_BELOW = 2;

/** Returns the severity of phrases with this weight; `null` if they are not a finding. */
export function severityOf(weight: number, sums: InjectionSums = INJECTION_SUMS): Severity | null {
  const { flag_threshold, block_threshold } = sums;
  if (weight < flag_threshold) return null;
  if (weight >= block_threshold) return weight >= block_threshold + CRITICAL_ABOVE ? 'critical' : 'high';
  return weight >= block_threshold - MEDIUM_BELOW ? 'medium' : 'low';
}
