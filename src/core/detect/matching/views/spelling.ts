import type { WorkMeter } from '../compiled-detector.ts';
import { memoizeValue } from '../lazy-value.ts';
import { addDecoded, addPlain, finishView, startView, type View } from './view.ts';

/**
 * Corrects words that a reader understands in spite of their spelling: digits for letters (`1gn0r3`), and
 * letters that are swapped or missing (`ingore`). Only instructions are corrected, because a key has no
 * spelling.
 */

const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
};

/** A word of letters and of digits that replace letters, with at least one of each and no white space. */
const LEET_WORD =
  /(?<![\w@$])(?=[a-z134578$@0]*[0134578$@])(?=[a-z134578$@0]*[a-z])[a-z0134578$@]{2,20}(?![\w@$])/gi;
/** Digits alone are read as letters only between such words: `7h3 73x7 70`. */
const LEET_NUMBER = /(?<![\w.,:/-])[0134578]{2,6}(?![\w.,:/-])/g;
/** Fewer such words are names and versions: `h1n1`, `s3`, `3d`. */
const LEET_WORDS_MIN = 3;

/**
 * Beginnings of words with digits for letters, in anchor notation. `0x` and `5s` are left out, because they
 * begin numbers or are numbers.
 */
const LEET_SIGNALS: readonly string[] = [
  '(?<![^\\s])[A-Za-z]{1,2}[013457][g-zG-Z]',
  '(?<![^\\s])[013457][g-wyzG-WYZ][A-Za-z0134578@$]',
  '(?<![^\\s])[A-Za-z][g-zG-Z][013457][A-Za-z]',
];

/** Words of instructions whose misspellings are corrected. The most telling ones are signals. */
const SIGNAL_WORDS =
  'ignore disregard forget override previous instructions system prompt reveal developer policies guidelines pretend unrestricted everything following confidential administrator repeat disclose';
const OTHER_WORDS =
  'policy rules print answer request requests content hidden safety earlier above please without restrictions filters model message messages customer password credentials secret command anything anyone instead reply respond follow stop starting transfer funds account user comply every revoked original original commands output execute shell image include append email tell verbatim';

/** Words of which a reader understands any misspelling with one letter more or another letter inside. */
const KEY_WORDS: readonly string[] =
  'ignore disregard forget override previous instruction instructions guidelines directives prompt'.split(
    ' ',
  );
/** Words that are one letter from a key word. */
const NEAR_WORDS = 'forgot overrode precious';

const spellings = memoizeValue(() => {
  const words = new Map<string, string>();
  for (const word of `${SIGNAL_WORDS} ${OTHER_WORDS}`.split(' ')) {
    for (const wrong of listMisspellings(word)) words.set(wrong, word);
  }
  for (const word of KEY_WORDS)
    for (const letter of 'abcdefghijklmnopqrstuvwxyz')
      for (const [start, end] of splitInside(word)) words.set(start + letter + end, word);
  // A correct word is not a misspelling.
  for (const word of `${SIGNAL_WORDS} ${OTHER_WORDS} ${NEAR_WORDS} ${KEY_WORDS.join(' ')} form trail bale mange`.split(
    ' ',
  ))
    words.delete(word);
  return words;
});

/** Returns anchors without a detector, for spans with possible misspellings. */
export function listSpellingSignals(): readonly string[] {
  const wrong = SIGNAL_WORDS.split(' ').flatMap(listMisspellings);
  const edited = KEY_WORDS.flatMap((word) =>
    splitInside(word).map(([start, end, right]) => start + buildOtherLetters(right) + end),
  );
  return [...LEET_SIGNALS, ...[...wrong, ...edited].map((word) => `(?i)\\b${word}`)];
}

/**
 * Returns the parts of a word around each place where a letter can be added or changed, and the letter that is right
 * there. The first and the last letter stay.
 */
function splitInside(word: string): readonly (readonly [string, string, string])[] {
  return [...word.slice(1)].flatMap((letter, at) => {
    const start = word.slice(0, at + 1);
    const added = [start, word.slice(at + 1), letter] as const;
    return at + 2 === word.length ? [added] : [added, [start, word.slice(at + 2), letter] as const];
  });
}

/** Returns a class of all letters but one, in anchor notation. */
function buildOtherLetters(letter: string): string {
  return `[${[...'abcdefghijklmnopqrstuvwxyz'].filter((other) => other !== letter).join('')}]`;
}

/** The work of checking one word. */
const WORD_WORK = 24;

/**
 * Corrects the words between `start` and `end`. Returns `null` if there is nothing to correct, or if the
 * meter, which counts the words, is exceeded.
 */
export function correctSpelling(text: string, start: number, end: number, meter: WorkMeter): View | null {
  const part = text.slice(start, end);
  const regrouped = findRegrouped(part);
  if (regrouped !== null) {
    meter.work += regrouped.length;
    const builder = startView();
    addDecoded(
      builder,
      regrouped.intended,
      start + regrouped.start,
      start + regrouped.start + regrouped.length,
    );
    return finishView(builder);
  }
  const words = [...findLeetWords(part, meter), ...findMisspelledWords(part, meter)].sort(
    (a, b) => a.start - b.start,
  );
  if (words.length === 0 || meter.work > meter.allowed) return null;
  const builder = startView();
  let plainFrom = start;
  for (const word of words) {
    if (start + word.start < plainFrom) continue;
    addPlain(builder, text, plainFrom, start + word.start);
    plainFrom = start + word.start + word.length;
    addDecoded(builder, word.intended, start + word.start, plainFrom);
  }
  addPlain(builder, text, plainFrom, end);
  return finishView(builder);
}

/** A word in a part of a text, and its correction. */
interface Word {
  readonly start: number;
  readonly length: number;
  readonly intended: string;
}

/** Finds a pattern in a part, as long as the meter allows. */
function* findWords(part: string, pattern: RegExp, meter: WorkMeter): Iterable<RegExpExecArray> {
  for (const match of part.matchAll(pattern)) {
    meter.work += WORD_WORK;
    if (meter.work > meter.allowed) return;
    yield match;
  }
}

function findLeetWords(part: string, meter: WorkMeter): readonly Word[] {
  const words = [...findWords(part, LEET_WORD, meter)];
  if (words.length < LEET_WORDS_MIN) return [];
  return [...words, ...findWords(part, LEET_NUMBER, meter)].map(({ 0: word, index }) => ({
    start: index,
    length: word.length,
    intended: readLeetWord(word),
  }));
}

/** Words of instructions with an `l`, which the digit 1 replaces as well, by their spelling with `i` alone. */
const L_WORDS: ReadonlyMap<string, string> = new Map(
  'all rules reveal tell policy policies guidelines disclose email emails shell file files follow following full delete tool tools help url filter filters limits controls developer developers model models'
    .split(' ')
    .map((word) => [word.replaceAll('l', 'i'), word]),
);

function readLeetWord(word: string): string {
  const intended = word.replace(/[^a-z]/gi, (sign) => LETTERS[sign]!);
  return L_WORDS.get(intended.toLowerCase()) ?? intended;
}

/** Corrects a text of words with digits for letters; `null` if it has none. */
export function readLeet(text: string): string | null {
  const words = text.match(LEET_WORD) ?? [];
  if (words.length < LEET_WORDS_MIN) return null;
  return text.replace(LEET_WORD, readLeetWord).replace(LEET_NUMBER, readLeetWord);
}

/** Letters and digits in groups of one length, in most of which a digit stands for a letter. */
const GROUPS = /(?<!\S)([a-z0-9@$]{2,6})(?:[ \n][a-z0-9@$]{2,6}){8,120}(?!\S)/gi;
const LEET_GROUPS_SHARE_MIN = 0.6;

/** Finds a text with digits for letters that was cut into groups of one length, and returns it without the cuts. */
function findRegrouped(part: string): Word | null {
  for (const { 0: run, 1: first, index } of part.matchAll(GROUPS)) {
    const groups = run.split(/\s/);
    const leet = groups.filter((group) => /[013457][a-z]|[a-z][013457]/i.test(group)).length;
    if (leet < groups.length * LEET_GROUPS_SHARE_MIN) continue;
    const even = groups.filter(({ length }) => length === first!.length).length;
    if (even < groups.length - 2) continue;
    const intended = groups.join('').replace(/[^a-z]/gi, (sign) => LETTERS[sign] ?? ' ');
    return { start: index, length: run.length, intended: `\n${intended}\n` };
  }
  return null;
}

function findMisspelledWords(part: string, meter: WorkMeter): readonly Word[] {
  const words: Word[] = [];
  for (const { 0: word, index } of findWords(part, /(?<![\w-])[A-Za-z]{4,16}(?![\w-])/g, meter)) {
    const intended = spellings().get(word.toLowerCase());
    if (intended !== undefined) words.push({ start: index, length: word.length, intended });
  }
  return words;
}

/** Returns the misspellings of a word: two letters swapped, or one inner letter missing. */
function listMisspellings(word: string): readonly string[] {
  const shorter = Array.from(word.slice(1, -1), (_, at) => word.slice(0, at + 1) + word.slice(at + 2));
  return [...listSwaps(word), ...shorter];
}

function listSwaps(word: string): readonly string[] {
  return Array.from(
    word.slice(1),
    (next, at) => word.slice(0, at) + next + word[at] + word.slice(at + 2),
  ).filter((wrong) => wrong !== word);
}
