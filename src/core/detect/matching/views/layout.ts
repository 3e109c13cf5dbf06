import { addWindow, type Windows } from './windows.ts';

/**
 * Reads the words of a text without its layout. White space, line breaks, indents, the marks of quotations, comments,
 * lists and tables, emphasis, escaped line ends and breaks of HTML between two words are one unit, as a reader takes
 * them. Detectors of phrases scan the words near telling words and near rare anchors that did not match as written.
 */

/** The words of a text, with the offsets at which they differ from it. */
export interface WordReading {
  readonly text: string;
  /** For each gap that was replaced: the offset behind it in `text`, and in the source. Ascending. */
  readonly ends: readonly number[];
  readonly source_ends: readonly number[];
}

/** The most units between two spans: phrases that far apart have nothing to do with each other. */
const APART_UNITS = 512;

/** Replaces a line break within a sentence: white space, but no end of a line to a pattern. */
const SOFT_BREAK = '\r';
const HARD_BREAK = '\n';

/** Beginnings of words of instructions. */
const TELLING_WORDS =
  'ignor disregard forget overrid bypass reveal disclos pretend discard neglect dismiss jailbreak instru directive guideline guidance previous prior earlier everything prompt restriction restrain limitation safeguard confidential unrestricted unfiltered policies rules orders training programming anweisung vergiss regeln olvid oubli consigne regla dimentic esque negeer zignoruj abaikan';
const TELLING_WORDS_BEYOND_ASCII =
  'игнорир инструк забуд правил 忽略 指令 指示 規則 规则 무시 지시 تجاهل التعليمات התעל הוראות';

/** The units around a telling word that are read. */
const BEFORE_UNITS = 96;
const AFTER_UNITS = 256;
/** The units behind a telling word in which layout can separate words of its phrase. */
const GAP_UNITS = 112;
/** Common words count only with another one in so many units. */
const PHRASE_UNITS_MAX = 200;
const STEM_UNITS = 4;
const COMMON_STEMS = 'prev prio earl ever rest limi conf poli rule orde trai prog safe guid'.split(' ');
const RARE_STEMS: ReadonlySet<string> = new Set(
  TELLING_WORDS.split(' ')
    .map((word) => word.slice(0, STEM_UNITS))
    .filter((stem) => !COMMON_STEMS.includes(stem)),
);

/** The white space between two words of an anchor. */
const ANCHOR_PART = /\\.|\[(?:\\.|[^\]\\])*\]/g;
const ANCHOR_BLANK = /^\[(?!\^).*(?: |\\s)/;
/** Layout behind a word, in anchor notation. Blanks before a mark count behind words that are no name in code. */
const LAYOUT_UNIT = '[\\t\\n\\r\u000b\u000c\u0085\u2028\u2029\\\\<&]';
const EMPHASIS_UNITS = '[*_`~|][^A-Za-z0-9]';
const BLANK_UNITS = ' [ \\t\\n\\r*_~|\\\\]';
const NAME_UNITS_MAX = 2;
/** An anchor with two letters or more up to a blank, at least one in ASCII. */
const WORDS = /(?:[A-Za-z]'?|[^\0-\x7f]\])[A-Za-z]$|[A-Za-z]\[[^\]]*[^\0-\x7f][^\]]*\]$/;

/**
 * Returns anchors without a detector: for words with layout where an anchor has a blank, and for words in underscores.
 */
export function listLayoutSignals(anchors: readonly string[]): readonly string[] {
  const cut = new Set<string>();
  for (const anchor of anchors)
    for (const { 0: part, index } of anchor.matchAll(ANCHOR_PART))
      if (ANCHOR_BLANK.test(part) && WORDS.test(anchor.slice(0, index))) cut.add(anchor.slice(0, index));
  return [
    ...[...cut].flatMap((words) => {
      const isName = words.replace(/^\(\?i\)|\\b/g, '').length <= NAME_UNITS_MAX;
      const layout = isName ? [LAYOUT_UNIT, EMPHASIS_UNITS] : [LAYOUT_UNIT, EMPHASIS_UNITS, BLANK_UNITS];
      return layout.map((units) => words + units);
    }),
    '(?<![A-Za-z0-9_])_[A-Za-z]',
    '(?<![A-Za-z0-9_])__[A-Za-z]',
  ];
}

/** Returns anchors without a detector, for telling words. */
export function listTellingWords(): readonly string[] {
  return [
    ...TELLING_WORDS.split(' ').map((word) => `(?i)(?<![A-Za-z0-9])${word}`),
    ...TELLING_WORDS_BEYOND_ASCII.split(' '),
  ];
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Units that can begin layout. */
const STARTS =
  '\t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff*_`~|\\<&';
/** Units that layout can have behind white space, and all those that it can have at the start of a line. */
const MARKS = '*_`~|\\<&/-+^';
const LINE_MARKS = `${MARKS}>#;%=("'@:\u2022\u2023\u25aa\u25cf\u25e6\u2013\u20140123456789RrDd`;

const NONE = 0;
const IS_START = 1;
const IS_MARK = 2;
const IS_LINE_MARK = 4;
const IS_SPACE = 8;
const IS_BREAK = 16;
/** A unit that can begin a break which is written out. */
const IS_WRITTEN = 32;
const IS_EMPHASIS = 64;
const IS_WORD = 128;
/** A unit after which a line ends its sentence or statement. */
const IS_LINE_OVER = 256;
const CLASSES = new Uint16Array(0x10000);
for (const unit of STARTS) addClass(unit, /\s|\u0085/.test(unit) ? IS_START | IS_SPACE : IS_START);
addClass(' ', IS_SPACE);
for (const unit of '\n\v\f\r\u0085\u2028\u2029') addClass(unit, IS_BREAK);
for (const unit of '\\<&') addClass(unit, IS_WRITTEN);
for (const unit of '*_`~|') addClass(unit, IS_EMPHASIS);
for (const unit of MARKS) addClass(unit, IS_MARK);
for (const unit of LINE_MARKS) addClass(unit, IS_LINE_MARK);
for (const unit of '.!?:;>{}])') addClass(unit, IS_LINE_OVER);

const ASCII_UNITS = 128;
for (const unit of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') addClass(unit, IS_WORD);
/** For each two units of ASCII: whether the first can be a mark in front of the second. */
const FOLLOWERS = new Uint8Array(ASCII_UNITS * ASCII_UNITS).fill(IS_MARK | IS_LINE_MARK);
const ANYWHERE = IS_MARK | IS_LINE_MARK;
const WHITE_SPACE = '\t\n\v\f\r ';
/** The marks that only some units follow, in lower case. */
const FOLLOWED: readonly (readonly [marks: string, followers: string, bits: number])[] = [
  ['\\', `nrt\\${WHITE_SPACE}`, ANYWHERE],
  ['<', '/!biuesmwfdlotcph', ANYWHERE],
  ['&', '#net', ANYWHERE],
  ['/', WHITE_SPACE, IS_MARK],
  ['/', '/*', IS_LINE_MARK],
  ['-', '->', IS_MARK],
  ['+^', WHITE_SPACE, IS_MARK],
  ['"', '"', IS_LINE_MARK],
  ["'", "'", IS_LINE_MARK],
  ['@', 'r', IS_LINE_MARK],
  [':', ':', IS_LINE_MARK],
  ['rR', 'e', IS_LINE_MARK],
  ['dD', 'n', IS_LINE_MARK],
  ['(', '0123456789', IS_LINE_MARK],
  ['0123456789', '0123456789.)', IS_LINE_MARK],
];
for (const [marks, followers, bits] of FOLLOWED)
  for (const mark of marks) {
    const row = mark.charCodeAt(0) * ASCII_UNITS;
    for (let unit = 0; unit < ASCII_UNITS; unit++) {
      const letter = String.fromCharCode(unit);
      if (!followers.includes(letter.toLowerCase())) FOLLOWERS[row + unit]! &= ~bits;
    }
  }

function addClass(unit: string, bits: number): void {
  CLASSES[unit.charCodeAt(0)]! |= bits;
}

/** A bar, or a mark of emphasis: neither a fence nor a blank to fill in. */
const EMPHASIS_MARK = '[*~|]{1,256}|(?<!`)`{1,2}(?!`)|(?<!_)_{1,3}(?!_)';
const LINE_END = '[^\\S\\n\\v\\f\\r\\u2028\\u2029]{0,9}(?:[\\n\\r\\u0085\\u2028\\u2029]|$)';
const ENTITY_OR_TAG =
  '&(?:nbsp|e[mn]sp|thinsp|#160|#[xX][aA]0);?|</?(?:b|i|u|em|strong|span|small|mark|wbr|font|code)(?:\\s[^<>]{0,80})?/?>';
/** Breaks of lines that are not white space themselves. */
const WRITTEN_BREAK =
  /(?:\\{1,2}r)?\\{1,2}n|\\{1,2}r|<\/?(?:br|p|div|li|ul|ol|td|tr|th|pre|blockquote|h[1-6])(?:\s[^<>]{0,80})?\/?>|&(?:NewLine|#10|#13|#[xX]0?[aAdD]);/iy;
/** Marks within a line: emphasis, bars of a table, tags, and what continues or closes a line at its end. */
const MARK = new RegExp(
  `${EMPHASIS_MARK}|\\\\{1,2}t|${ENTITY_OR_TAG}|(?:\\\\{1,2}|\\*{0,9}/|-{1,9}>|[+&^])(?=${LINE_END})`,
  'iy',
);
/** Marks at the start of a line: also those of quotations, comments, lists and rules. */
const LINE_MARK = new RegExp(
  `\\\\{1,2}(?:t|(?=\\s))|${ENTITY_OR_TAG}|<!-{2,9}|-{1,9}>|(?:/{2,9}|/\\*{1,9}|\\*{1,9}/)!?|${EMPHASIS_MARK}|[>#;%+=\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014-]{1,256}|"""|'''|(?:@?REM|dnl|::|\\(?\\d{1,3}[.)])(?=\\s)`,
  'iy',
);
/** Letters of scripts that write no blanks between words. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
/** Further units after which a block ends its sentence. */
const BLOCK_END = /["'\u201d]/;
/** The last units of marks of a list's items. */
const BULLET_ENDS = '-+\u2022\u2023\u25aa\u25cf\u25e6\u2013.)';
const CAPITAL = /\p{Lu}/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Layout between two words, and what it reads as. */
export interface LayoutGap {
  readonly start: number;
  readonly end: number;
  readonly gap: string;
}

/** Returns the layout with which a signal ends, if an anchor does not admit it and a word is behind it. */
export function findLayoutGap(text: string, signalEnd: number): LayoutGap | null {
  const isLonger = (CLASSES[text.charCodeAt(signalEnd - 2)]! & (IS_START | IS_SPACE)) !== NONE;
  const start = isLonger ? signalEnd - 2 : signalEnd - 1;
  const end = findGapEnd(text, start);
  if (end === start || !isWord(text, end)) return null;
  const isAdmitted = end === start + 1 && (CLASSES[text.charCodeAt(start)]! & IS_SPACE) !== NONE;
  const gap = isAdmitted ? null : readGap(text, start, end);
  return gap === null ? null : { start, end, gap };
}

/** Returns whether a word in underscores begins at an offset. */
export function isUnderscored(text: string, start: number): boolean {
  UNDERSCORED.lastIndex = start;
  return UNDERSCORED.test(text);
}

const UNDERSCORED = /(_{1,2})[A-Za-z\u2019']{1,20}\1(?![\w.(])/y;

/** Offsets at which layout can separate the words of a phrase, in the order of the text. */
export interface LayoutPlaces {
  /** Rare anchors of words at which no pattern matched, or which layout breaks. */
  readonly failed_starts: number[];
  /** Telling words, and words in underscores. */
  readonly telling_starts: number[];
}

/** Returns the spans of a text whose words are read: around such offsets where there is layout. */
export function findWordSpans(text: string, { failed_starts, telling_starts }: LayoutPlaces): Windows {
  if (failed_starts.length + telling_starts.length === 0) return NO_SPANS;
  const starts = failed_starts.concat(
    telling_starts.filter((start, at) => counts(text, telling_starts, start, at)),
  );
  const spans: Windows = [];
  let plainUntil = 0;
  let layout = NOWHERE;
  for (const start of starts.sort((a, b) => a - b)) {
    const from = Math.max(plainUntil, start - BEFORE_UNITS, 0);
    const until = Math.min(text.length, start + GAP_UNITS);
    if (layout < from) layout = findLayout(text, from, until);
    if (layout === NOWHERE) plainUntil = until;
    else addWindow(spans, Math.max(0, start - BEFORE_UNITS), Math.min(text.length, start + AFTER_UNITS));
  }
  return spans;
}

const NO_SPANS: Windows = [];

/** Returns whether a telling word counts: alone if it is rare or has layout in front, else with another one near it. */
function counts(text: string, starts: readonly number[], start: number, at: number): boolean {
  const stem = getStem(text, start);
  const isOther = (other: number | undefined): boolean =>
    other !== undefined && Math.abs(other - start) <= PHRASE_UNITS_MAX && getStem(text, other) !== stem;
  return (
    RARE_STEMS.has(stem) || hasLayoutBefore(text, start) || isOther(starts[at - 1]) || isOther(starts[at + 1])
  );
}

/** Returns whether there is more in front of a word than one blank behind another word. */
function hasLayoutBefore(text: string, start: number): boolean {
  const isBlank = text[start - 1] === ' ';
  const classes = CLASSES[text.charCodeAt(isBlank ? start - 2 : start - 1)]!;
  const layout = isBlank ? IS_START | IS_SPACE | IS_LINE_MARK : IS_START;
  return (classes & layout) !== NONE && (classes & IS_WORD) === NONE;
}

function getStem(text: string, start: number): string {
  return text.slice(start, start + STEM_UNITS).toLowerCase();
}

const NOWHERE = -1;

/** Returns where the first layout before `until` begins. */
function findLayout(text: string, from: number, until: number): number {
  for (let at = findGapStart(text, from, until); at < until; ) {
    const end = findGapEnd(text, at);
    if (isReplaced(text, at, end, readGap(text, at, end))) return at;
    at = findGapStart(text, Math.max(end, at + 1), until);
  }
  return NOWHERE;
}

/** Returns the words of the given spans of a text, apart from each other as they are there. Linear. */
export function readWords(text: string, spans: Windows): WordReading {
  const parts: string[] = [];
  const ends: number[] = [];
  const sourceEnds: number[] = [];
  let length = 0;
  let from = 0;
  const replace = (start: number, end: number, gap: string): void => {
    parts.push(text.slice(from, start), gap);
    length += start - from + gap.length;
    ends.push(length);
    sourceEnds.push(end);
    from = end;
  };
  for (let span = 0; span < spans.length; span += 2) {
    const [start, until] = [spans[span]!, spans[span + 1]!];
    if (start > from) replace(from, start, HARD_BREAK.repeat(Math.min(start - from, APART_UNITS)));
    for (let at = findGapStart(text, start, until); at < until; ) {
      const end = findGapEnd(text, at);
      const gap = readGap(text, at, end);
      if (isReplaced(text, at, end, gap)) replace(at, end, gap!);
      at = findGapStart(text, Math.max(end, at + 1), until);
    }
    if (until > from) {
      parts.push(text.slice(from, until));
      length += until - from;
      from = until;
    }
  }
  return { text: parts.join(''), ends, source_ends: sourceEnds };
}

function isReplaced(text: string, start: number, end: number, gap: string | null): boolean {
  return gap !== null && !(end === start + 1 && text[start] === gap);
}

/** Returns the span of the source for a span of words. */
export function toSourceSpan(words: WordReading, start: number, end: number): { start: number; end: number } {
  return { start: toSourceOffset(words, start), end: toSourceOffset(words, end - 1) + 1 };
}

function toSourceOffset({ ends, source_ends }: WordReading, offset: number): number {
  const gaps = countUpTo(ends, offset);
  return gaps === 0 ? offset : source_ends[gaps - 1]! + offset - ends[gaps - 1]!;
}

/** Returns the number of ascending offsets up to one. */
function countUpTo(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first offset before `until` at which layout can begin, else `until`. */
function findGapStart(text: string, from: number, until: number): number {
  if (from === 0 && until > 0) return 0;
  for (let at = from; at < until; at++) {
    const classes = CLASSES[text.charCodeAt(at)]!;
    if ((classes & (IS_START | IS_SPACE)) === NONE) continue;
    if ((classes & IS_EMPHASIS) !== NONE) {
      const end = findEmphasisEnd(text, at);
      if (isOneSided(text, at, end) && findEnd(MARK, text, at) > at) return at;
      at = end - 1;
    } else if (isGapStart(text, at, classes)) return at;
  }
  return until;
}

/** Returns whether layout can begin at an offset. One blank in front of a word is none. */
function isGapStart(text: string, at: number, classes: number): boolean {
  if ((classes & IS_START) === NONE) {
    const next = CLASSES[text.charCodeAt(at + 1)]!;
    return (next & IS_SPACE) !== NONE || ((next & IS_MARK) !== NONE && mayBeMark(text, at + 1, IS_MARK));
  }
  return (classes & IS_SPACE) !== NONE || mayBeMark(text, at, IS_MARK);
}

function findEmphasisEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && (CLASSES[text.charCodeAt(end)]! & IS_EMPHASIS) !== NONE) end += 1;
  return end;
}

/** Returns whether a word is on one side only. A sign between two words can be an operator or a part of a name. */
function isOneSided(text: string, start: number, end: number): boolean {
  return isWord(text, start - 1) !== isWord(text, end);
}

/** Returns whether a mark can begin at an offset, by the unit after it. */
function mayBeMark(text: string, at: number, bit: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit >= ASCII_UNITS) return true;
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : LINE_FEED;
  const follower = next < ASCII_UNITS ? next : 0;
  return (FOLLOWERS[unit * ASCII_UNITS + follower]! & bit) !== NONE;
}

/** Returns the end of the layout at an offset. */
function findGapEnd(text: string, start: number): number {
  let at = start;
  let isBroken = start === 0;
  for (;;) {
    const classes = at < text.length ? CLASSES[text.charCodeAt(at)]! : NONE;
    if ((classes & IS_SPACE) !== NONE) {
      isBroken ||= (classes & IS_BREAK) !== NONE;
      at += 1;
      continue;
    }
    const bit = isBroken ? IS_LINE_MARK : IS_MARK;
    if ((classes & bit) === NONE || !mayBeMark(text, at, bit)) return at;
    const lineEnd = (classes & IS_WRITTEN) === NONE ? at : findEnd(WRITTEN_BREAK, text, at);
    isBroken ||= lineEnd > at;
    const end = lineEnd > at ? lineEnd : findEnd(isBroken ? LINE_MARK : MARK, text, at);
    if (end === at) return at;
    at = end;
  }
}

function findEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Returns what a gap reads as; `null` if its units are no layout. */
function readGap(text: string, start: number, end: number): string | null {
  if (end === start) return null;
  const isMarked = (CLASSES[text.charCodeAt(start)]! & IS_SPACE) === NONE;
  const breaks = countLineBreaks(text, start, end);
  if (breaks === 0) {
    if (!isMarked || findEmphasisEnd(text, start) < end) return ' ';
    return isOneSided(text, start, end) ? '' : null;
  }
  const before = start > 0 ? text.charCodeAt(start - 1) : LINE_FEED;
  const after = end < text.length ? text.charCodeAt(end) : LINE_FEED;
  if (isUnspaced(before) && isUnspaced(after)) return '';
  if (start === 0 || (CLASSES[before]! & IS_LINE_OVER) !== NONE) return HARD_BREAK;
  if (breaks === 1 && !hasBullet(text, start, end)) return SOFT_BREAK;
  return isBlockEnd(before, after) ? HARD_BREAK : SOFT_BREAK;
}

/** Returns whether a gap ends with the mark of a list's item. */
function hasBullet(text: string, start: number, end: number): boolean {
  let at = end;
  while (at > start && (CLASSES[text.charCodeAt(at - 1)]! & (IS_SPACE | IS_BREAK)) === IS_SPACE) at -= 1;
  return at < end && at > start && BULLET_ENDS.includes(text[at - 1]!);
}

/** Returns whether a blank line or a bullet ends a sentence: after the end of one, or in front of a capital. */
function isBlockEnd(before: number, after: number): boolean {
  return BLOCK_END.test(String.fromCharCode(before)) || CAPITAL.test(String.fromCharCode(after));
}

/** Returns whether a letter or a digit is at an offset. */
export function isWord(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  return unit < ASCII_UNITS ? (CLASSES[unit]! & IS_WORD) !== NONE : WORD.test(text[at]!);
}

function isUnspaced(unit: number): boolean {
  return unit >= 0xe00 && UNSPACED.test(String.fromCharCode(unit));
}

/** Returns the number of line breaks in a gap, at most 2. The start of a text counts as one. */
function countLineBreaks(text: string, start: number, end: number): number {
  let count = start === 0 ? 1 : 0;
  for (let at = start; at < end && count < 2; at++) {
    const unit = text.charCodeAt(at);
    const classes = CLASSES[unit]!;
    if ((classes & IS_BREAK) !== NONE) {
      if (unit !== LINE_FEED || text.charCodeAt(at - 1) !== CARRIAGE_RETURN) count += 1;
    } else if ((classes & IS_WRITTEN) !== NONE) {
      const breakEnd = findEnd(WRITTEN_BREAK, text, at);
      if (breakEnd > at) {
        count += 1;
        at = breakEnd - 1;
      }
    }
  }
  return count;
}
