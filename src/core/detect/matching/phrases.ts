/**
 * Building blocks of patterns for phrases of natural language. A word has at most 20 letters, at most three signs
 * separate words, and a phrase stays within one sentence, so that every pattern is bounded.
 */
import type { Severity, Tag } from '../../types/index.ts';
import { hasUnit, parseAnchor, type UnitSet } from './anchors.ts';
import type { Detector } from './detector.ts';
import { memoizeValue } from './lazy-value.ts';

/** Separators between two words, including a sign without white space if it joins all the words. */
export const WORD_GAP = String.raw`(?:[\s,*_"\u201c\u201d]{1,3}|[,;:]?[.+|~](?=[^\s.]))`;
export const OPTIONAL_WORD_GAP: string = WORD_GAP.replace('{1,3}', '{0,3}');

/**
 * Returns a pattern for up to `most` words that do not reverse the sentence (`but`, `then`, ...), as few as
 * possible. Separators contain no word characters, so that a text can be split in one way only.
 */
export function buildAnyWordsPattern(most: number): string {
  return String.raw`(?:(?!(?:but|yet|then|instead|however|nor|so)\b)[a-z\d'\u2019/-]{1,20}${WORD_GAP}){0,${most}}?`;
}

/**
 * The start of an instruction: at a line, sentence, clause or quotation, or after `please`, `and`, `you must`
 * ...
 */
export const COMMAND_START = String.raw`(?<=(?:^|[.!?:;,>*"'\u201c\u2018(\[{#\u2014\n-])\s{0,3}|\b(?:and|then|please|now|just|must|should|will|also|but|so|to|kindly|immediately|simply|yet|instead|or)\s{1,2})`;

/** Nouns for the rules of a model. */
export const RULE_NOUNS =
  '(?:instructions?|instruction (?:hierarchy|set)|directives?|directions|rules?|guidelines?|guidance|guard-?rails?|polic(?:y|ies)|constraints?|restrictions?|limitations?|prompts?|orders|commands|programming|training|protocols?|safeguards?|alignment|filters?)';

/** Builds case-insensitive anchors for words and beginnings of words. */
export function buildWordAnchors(...beginnings: readonly string[]): readonly string[] {
  return beginnings.map((beginning) => String.raw`(?i)\b${beginning}`);
}

/** In anchor notation: a unit of `WORD_GAP`, and a unit that does not begin a word. */
const GAP_UNIT = '[\\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,;:*_"“”.+|~]';
const NO_WORD = '[^<>(){}=&#]';

/**
 * Builds anchors for words that another word follows, with one of the given beginnings if there are some. Words of
 * requests are also words of code (`export`, `start`, `new`); one or two more units exclude most of those.
 */
export function buildWordAnchorsBefore(
  words: readonly string[],
  beginnings: readonly string[] = [],
): readonly string[] {
  const unit = (at: number): string => `[${[...new Set(beginnings.map((word) => word[at]!))].join('')}]`;
  const next = beginnings.length === 0 ? `${GAP_UNIT}${NO_WORD}` : `${GAP_UNIT}{1,3}${unit(0)}${unit(1)}`;
  return words.map((word) => String.raw`(?i)\b${word}${next}`);
}

/** The definition of a phrase; see `Detector` for anchors, pattern and `back`. */
export interface Phrase {
  /** Unique name: `previous_instructions`. */
  readonly name: string;
  readonly weight: number;
  readonly description: string;
  readonly anchors: readonly string[];
  readonly back?: Detector['back'];
  /** Source of a pattern, case-insensitive unless `is_exact`. */
  readonly pattern: string;
  readonly is_exact?: boolean;
  /** Matched in the text as written, because it reads marks of its layout. */
  readonly is_written?: boolean;
  /** Its anchors are in ordinary text, so that one alone is no reason to read the words around it. */
  readonly is_common?: boolean;
  readonly try_work?: Detector['try_work'];
  readonly precheck?: Detector['precheck'];
  readonly validate?: (value: string) => boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** Builds the detectors for the phrases of one kind of injection, with the tag `injection.<kind>`. */
export function buildPhraseDetectors(kind: string, list: readonly Phrase[]): readonly Detector[] {
  const tags: readonly [Tag] = [`injection.${kind}`];
  return list.map(
    ({
      name,
      weight,
      description,
      anchors,
      back,
      pattern,
      is_exact,
      is_written,
      is_common,
      try_work,
      precheck,
      validate,
      hits,
      misses,
    }) => {
      const made = memoizeValue(() => new RegExp(widenBreaks(pattern), is_exact ? '' : 'i'));
      const spaced = anchors.map(widenBlanks);
      const anchorCheck = buildAnchorCheck(spaced);
      return {
        id: `injection.${name}`,
        detector: `prompt_${kind}`,
        tags,
        severity: gradeSeverity(weight) ?? 'low',
        strength: 'cue',
        weight,
        is_words: is_written !== true,
        is_telling: is_written !== true && is_common !== true,
        description,
        get anchors() {
          return spaced.map(widenAnchor);
        },
        get pattern() {
          return made();
        },
        ...(back === undefined ? {} : { back }),
        ...(try_work === undefined ? {} : { try_work }),
        ...(precheck === undefined ? {} : { precheck }),
        ...(anchorCheck === undefined ? {} : { anchorCheck }),
        ...(validate === undefined ? {} : { validate }),
        examples: { hits, misses },
      };
    },
  );
}

/** Widens each blank and each line break of a pattern to the soft breaks of word readings (views/layout.ts). */
function widenBreaks(pattern: string): string {
  return pattern.replace(/\\.|\[\^(?:\\.|[^\]\\])*\]|\[(?:\\.|[^\]\\])*\]| /g, (part) => {
    if (part === ' ') return '[ \\r]';
    if (part === '\\n') return '[\\n\\r]';
    const isWidened = part.startsWith('[') && !part.startsWith('[^') && / |\\n/.test(part);
    return isWidened ? `[\\r${part.slice(1)}` : part;
  });
}

/** Widens each blank between two words of an anchor to the white space with which a line is wrapped. */
function widenBlanks(anchor: string): string {
  return anchor.replace(/\\.|\[(?:\\.|[^\]\\])*\]| /g, (part) => {
    if (part === ' ') return '[ \t\n\r]';
    const hasBlank = part.startsWith('[') && part.includes(' ') && !/^\[\^|\\s/.test(part);
    return hasBlank ? `[\t\n\r${part.slice(1)}` : part;
  });
}

/**
 * Returns a check for the anchors as written, if they are widened; `undefined` for anchors of ASCII alone. Texts in
 * other scripts are full of places that only the wider anchors admit. Widening adds no ASCII units, so an anchor in
 * ASCII is there as written.
 */
function buildAnchorCheck(anchors: readonly string[]): Detector['anchorCheck'] {
  if (anchors.every((anchor) => /^[\0-\x7f]*$/.test(anchor))) return undefined;
  const getSequences = memoizeValue(() => groupByFirstUnit(anchors));
  return (text, start, end) => {
    if (isAscii(text, start, end)) return true;
    const group = getSequences().get(text.charCodeAt(start));
    if (group === undefined) return false;
    for (const sets of group) if (isSequenceAt(sets, text, start)) return true;
    return false;
  };
}

function isAscii(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

function isSequenceAt(sets: readonly UnitSet[], text: string, start: number): boolean {
  for (let at = 0; at < sets.length; at++) if (!hasUnit(sets[at]!, text.charCodeAt(start + at))) return false;
  return true;
}

/** Returns the sets of units of each anchor in both cases, by each unit with which an anchor can begin. */
function groupByFirstUnit(anchors: readonly string[]): ReadonlyMap<number, readonly (readonly UnitSet[])[]> {
  const groups = new Map<number, (readonly UnitSet[])[]>();
  for (const { sets, length } of anchors.flatMap(parseAnchor)) {
    const own = sets.slice(sets.length - length).map(addOtherCase);
    const first = own[0] ?? [];
    for (const [low, high] of first)
      for (let unit = low; unit <= high; unit++) {
        const group = groups.get(unit);
        if (group === undefined) groups.set(unit, [own]);
        else group.push(own);
      }
  }
  return groups;
}

/** Adds the other case of each letter beyond ASCII. Ranges are of letters with the same case, or of no letters. */
function addOtherCase(set: UnitSet): UnitSet {
  const added = set.flatMap(([low, high]) => {
    if (low < 0x80 || high - low > CASED_UNITS_MAX) return [];
    const units = Array.from({ length: high - low + 1 }, (_, at) => String.fromCharCode(low + at));
    return units.flatMap((unit) =>
      [unit.toLowerCase(), unit.toUpperCase()].filter((each) => each.length === 1),
    );
  });
  return [...set, ...added.map((unit) => [unit.charCodeAt(0), unit.charCodeAt(0)] as const)];
}

/** The longest range whose letters get their other case. Longer ones are whole scripts, which contain both. */
const CASED_UNITS_MAX = 64;

/**
 * Widens each letter beyond ASCII to a range of neighbours. The automaton has a class for every set of
 * letters, and all letters of twenty languages would make its table several times as large. The pattern
 * rejects matches that only the wider anchor admits.
 */
function widenAnchor(anchor: string): string {
  return anchor.replace(/\\.|\[(?:\\.|[^\]\\])*\]|[^\0-\x7f]/g, (part) => {
    if (part.startsWith('[')) return part.replace(/([^\0-\x7f])(?:-([^\0-\x7f]))?/g, widenRange);
    return part.startsWith('\\') ? part : `[${widenRange(part, part)}]`;
  });
}

function widenRange(_: string, low: string, high = low): string {
  return `${findNeighbours(low)[0]}-${findNeighbours(high)[1]}`;
}

/** Returns the first and the last unit of the block of neighbours around a unit beyond ASCII. */
function findNeighbours(unit: string): readonly [string, string] {
  const code = unit.charCodeAt(0);
  const count = code < 0x3100 ? 16 : 256;
  const low = code - (code % count);
  return [String.fromCharCode(low), String.fromCharCode(low + count - 1)];
}

/** The sums of weights from which phrases are a finding, and from which they are a severe one. */
export interface InjectionThresholds {
  readonly flag_threshold: number;
  readonly block_threshold: number;
}

export const DEFAULT_INJECTION_THRESHOLDS: InjectionThresholds = { flag_threshold: 4, block_threshold: 8 };

/** Distances of the other severities' thresholds from that of `high`. */
const CRITICAL_ABOVE = 6;
const MEDIUM_BELOW = 2;

/** Returns the severity of phrases with this weight; `null` if they are not a finding. */
export function gradeSeverity(
  weight: number,
  thresholds: InjectionThresholds = DEFAULT_INJECTION_THRESHOLDS,
): Severity | null {
  const { flag_threshold, block_threshold } = thresholds;
  if (weight < flag_threshold) return null;
  if (weight >= block_threshold) return weight >= block_threshold + CRITICAL_ABOVE ? 'critical' : 'high';
  return weight >= block_threshold - MEDIUM_BELOW ? 'medium' : 'low';
}
