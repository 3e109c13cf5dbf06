import type { WorkMeter } from '../compiled-detector.ts';
import { addDecoded, addPlain, finishView, startView, type View, type ViewBuilder } from './view.ts';
import { addWindow, type Windows } from './windows.ts';

/**
 * Reads words across the layout of a text. White space, line breaks, indents, the marks of quotations, comments, lists
 * and tables, emphasis, escaped line ends and breaks of HTML between two words are one blank, as a reader takes them.
 */

/** Places of a text at which its layout can hide instructions. */
export interface LayoutPlaces {
  /** The starts of telling words. */
  readonly telling_starts: number[];
  /** The starts of orders to the reader whose pattern did not match. */
  readonly failed_starts: number[];
}

/** Beginnings of words of instructions. */
const TELLING_WORDS =
  'ignor disregard forget overrid bypass reveal disclos pretend discard neglect dismiss jailbreak instru directive guideline guidance previous prior earlier everything prompt restriction restrain limitation safeguard confidential unrestricted unfiltered policies rules orders training programming anweisung vergiss regeln olvid oubli consigne regla dimentic esque negeer zignoruj abaikan';
const TELLING_WORDS_BEYOND_ASCII =
  'игнорир инструк забуд правил 忽略 指令 指示 規則 规则 무시 지시 تجاهل التعليمات התעל הוראות';

/** Two telling words apart by at most so many units are of one phrase. */
const PHRASE_UNITS_MAX = 200;
/** The units before and after two such words in which layout can separate words of their phrase. */
const GAP_BEFORE_UNITS = 8;
const GAP_AFTER_UNITS = 96;
/** The units that the view of a phrase has before and after it. */
const BEFORE_UNITS = 128;
const AFTER_UNITS = 384;
/** The same for one order that did not match. */
const FAILED_BEFORE_UNITS = 64;
const FAILED_AFTER_UNITS = 192;
/** Telling words with the same first units are one word. */
const SAME_UNITS = 4;
/** Telling words that are in ordinary text; two of them tell nothing. */
const COMMON_WORDS = new Set([
  'prev',
  'prio',
  'earl',
  'ever',
  'rest',
  'limi',
  'conf',
  'poli',
  'rule',
  'orde',
  'trai',
  'prog',
  'safe',
  'guid',
]);
const PLACE_WORK = 16;

const NO_WINDOWS: readonly number[] = [];

/** Returns anchors without a detector, for telling words. */
export function listLayoutSignals(): readonly string[] {
  return [
    ...TELLING_WORDS.split(' ').map((word) => `(?i)(?<![A-Za-z0-9])${word}`),
    ...TELLING_WORDS_BEYOND_ASCII.split(' '),
  ];
}

/**
 * Returns the parts of a text in which layout is near a phrase that did not match, or between and around two telling
 * words that are near each other. Both lists of starts are ascending.
 */
export function findLayoutWindows(
  text: string,
  { telling_starts, failed_starts }: LayoutPlaces,
  meter: WorkMeter,
): readonly number[] {
  if (telling_starts.length < 2 && failed_starts.length === 0) return NO_WINDOWS;
  const spans: (readonly [start: number, end: number])[] = [];
  let clear_until = 0;
  const add = (first: number, last: number, before: number, after: number): void => {
    const from = Math.max(0, clear_until, first - GAP_BEFORE_UNITS);
    const end = Math.min(text.length, last + GAP_AFTER_UNITS);
    meter.work += PLACE_WORK + Math.max(0, end - from);
    if (meter.work > meter.allowed) return;
    if (!hasBreakingGap(text, from, end)) clear_until = end;
    else spans.push([Math.max(0, first - before), Math.min(text.length, last + after)]);
  };
  for (let at = 1; at < telling_starts.length; at++) {
    const [first, second] = [telling_starts[at - 1]!, telling_starts[at]!];
    if (second - first <= PHRASE_UNITS_MAX && areTelling(text, first, second))
      add(first, second, BEFORE_UNITS, AFTER_UNITS);
  }
  clear_until = 0;
  for (const start of new Set(failed_starts)) add(start, start, FAILED_BEFORE_UNITS, FAILED_AFTER_UNITS);
  const windows: Windows = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) addWindow(windows, start, end);
  return windows;
}

function areTelling(text: string, a: number, b: number): boolean {
  const first = text.slice(a, a + SAME_UNITS).toLowerCase();
  const second = text.slice(b, b + SAME_UNITS).toLowerCase();
  return first !== second && !(COMMON_WORDS.has(first) && COMMON_WORDS.has(second));
}

/** Returns whether layout between two offsets separates words in another way than one blank does. */
function hasBreakingGap(text: string, from: number, to: number): boolean {
  for (let at = findGapStart(text, from, to); at < to; ) {
    const end = findGapEnd(text, at);
    if (readGap(text, at, end) !== null) return true;
    at = findGapStart(text, Math.max(end, at + 1), to);
  }
  return false;
}

const BLANK = 32;
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
const CLASSES = new Uint8Array(0x10000);
for (const unit of STARTS) addClass(unit, /\s|\u0085/.test(unit) ? IS_START | IS_SPACE : IS_START);
for (const unit of ' ') addClass(unit, IS_SPACE);
for (const unit of '\n\v\f\r\u0085\u2028\u2029') addClass(unit, IS_BREAK);
for (const unit of MARKS) addClass(unit, IS_MARK);
for (const unit of LINE_MARKS) addClass(unit, IS_LINE_MARK);

function addClass(unit: string, bits: number): void {
  CLASSES[unit.charCodeAt(0)]! |= bits;
}

const LINE_END = '[^\\S\\n\\v\\f\\r\\u2028\\u2029]{0,9}(?:[\\n\\r\\u0085\\u2028\\u2029]|$)';
const ENTITY_OR_TAG =
  '&(?:nbsp|e[mn]sp|thinsp|#160|#[xX][aA]0);?|</?(?:b|i|u|p|em|strong|span|small|mark|wbr|font|div|li|ul|ol|td|tr|th|code|pre|blockquote)(?:\\s[^<>]{0,80})?/?>';
/** Breaks of lines that are not white space themselves. */
const WRITTEN_BREAK =
  /(?:\\{1,2}r)?\\{1,2}n|\\{1,2}r|<br(?:\s[^<>]{0,40})?\/?>|&(?:NewLine|#10|#13|#[xX]0?[aAdD]);/iy;
/** Marks within a line: emphasis, bars of a table, tags, and what continues or closes a line at its end. */
const MARK = new RegExp(
  `[*_\`~|]{1,256}|\\\\{1,2}t|${ENTITY_OR_TAG}|(?:\\\\{1,2}|\\*{0,9}/|-{1,9}>|[+&^])(?=${LINE_END})`,
  'iy',
);
/** Marks at the start of a line: also those of quotations, comments, lists and rules. */
const LINE_MARK = new RegExp(
  `\\\\{1,2}(?:t|(?=\\s))|${ENTITY_OR_TAG}|<!-{2,9}|-{1,9}>|(?:/{2,9}|/\\*{1,9}|\\*{1,9}/)!?|[>#*_\`~|;%+=\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014-]{1,256}|"""|'''|(?:@?REM|dnl|::|\\(?\\d{1,3}[.)])(?=\\s)`,
  'iy',
);
const EMPHASIS = /^[*_`~|]*$/;
/** Letters of scripts that write no blanks between words. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]|\\[nr]|<br|&(?:NewLine|#)/i;
/** Units after or before which a line break also begins a command. */
const SENTENCE_END = /[.!?:;>"'\u201d)\]}]/;
const CAPITAL = /\p{Lu}/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Builds the view of a part of a text without its layout. Linear in the units that it reads. */
export function readLayout(text: string, start: number, end: number): View {
  const builder = startView();
  addWithoutLayout(builder, text, start, end);
  return finishView(builder);
}

/** Adds units of a text without their layout. A long gap before `end` does not count: the units behind it follow. */
export function addWithoutLayout(builder: ViewBuilder, text: string, start: number, end: number): void {
  let from = start;
  let at = start;
  let until = end;
  for (;;) {
    at = findGapStart(text, at, until);
    if (at >= until) break;
    const gap_end = findGapEnd(text, at);
    const gap = readGap(text, at, gap_end);
    if (gap !== null) {
      addPlain(builder, text, from, at);
      addDecoded(builder, gap, at, gap_end);
      from = gap_end;
      if (gap_end - at > LONG_GAP_UNITS) until = Math.min(text.length, until + gap_end - at);
    }
    at = Math.max(gap_end, at + 1);
  }
  addPlain(builder, text, from, until);
}

const LONG_GAP_UNITS = 64;

/** Returns the first offset before `end` at which layout can begin, else `end`. */
function findGapStart(text: string, from: number, end: number): number {
  if (from === 0 && end > 0) return 0;
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    if ((CLASSES[unit]! & (IS_START | IS_SPACE)) !== NONE && isGapStart(text, at)) return at;
  }
  return end;
}

/** Returns whether layout can begin at an offset. One blank in front of a word is none. */
function isGapStart(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit !== BLANK) return (CLASSES[unit]! & IS_START) !== NONE;
  return (CLASSES[text.charCodeAt(at + 1)]! & (IS_SPACE | IS_MARK)) !== NONE;
}

/** Returns the end of the layout at an offset. */
function findGapEnd(text: string, start: number): number {
  let at = start;
  let is_broken = start === 0;
  for (;;) {
    const classes = at < text.length ? CLASSES[text.charCodeAt(at)]! : NONE;
    if ((classes & IS_SPACE) !== NONE) {
      is_broken ||= (classes & IS_BREAK) !== NONE;
      at += 1;
      continue;
    }
    if ((classes & (is_broken ? IS_LINE_MARK : IS_MARK)) === NONE) return at;
    const line_end = findEnd(WRITTEN_BREAK, text, at);
    is_broken ||= line_end > at;
    const end = line_end > at ? line_end : findEnd(is_broken ? LINE_MARK : MARK, text, at);
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
  const before = text[start - 1] ?? '';
  const after = text[end] ?? '';
  if ((CLASSES[text.charCodeAt(start)]! & IS_SPACE) === NONE && EMPHASIS.test(text.slice(start, end)))
    // A sign between two words can be an operator or a part of a name. On one side of a word it is emphasis.
    return WORD.test(before) === WORD.test(after) ? null : '';
  if (!hasLineBreak(text, start, end)) return ' ';
  if (UNSPACED.test(before) && UNSPACED.test(after)) return '';
  return before === '' || SENTENCE_END.test(before) || CAPITAL.test(after) ? '\n' : ' ';
}

function hasLineBreak(text: string, start: number, end: number): boolean {
  return start === 0 || LINE_BREAK.test(text.slice(start, end));
}
