import { NUMBERED_NAMES } from './escapes.ts';
import { COMPATIBLE, COMPATIBLE_PAIR, INVISIBLE, LOCAL_DIGIT, LOOKALIKE, TAG_PAIR } from './fold.ts';

/**
 * Anchors of places that may be encoded. They are in the automaton of the detectors, so that a text without
 * such places costs nothing more.
 */
export const decodingSignals: readonly string[] = [
  INVISIBLE,
  COMPATIBLE,
  COMPATIBLE_PAIR,
  TAG_PAIR,
  // Numbers in digits of other scripts.
  `${LOCAL_DIGIT}{4}`,
  // Terminal sequences: raw, as escapes in code, and without their first character.
  '\u001b',
  '\\\\e\\[',
  '\\[[0-9][0-9;]{0,3}m[A-Za-z0-9]',
  '\\[[0-9]m[A-Za-z0-9]',
  '\\[[0-9;]{5,12}m[A-Za-z0-9]',
  `[A-Za-z0-9_-]${LOOKALIKE}`,
  `${LOOKALIKE}[A-Za-z0-9_-]`,
  // Percent encoding of ASCII. Percent encoding of other letters alone is not a signal.
  '%[2-7][0-9A-Fa-f]',
  '&#[0-9xX]',
  '&[a-zA-Z]{2,7};',
  '\\\\[uU][0-9A-Fa-f{]{2}',
  '\\\\x[0-9A-Fa-f]{2}',
  '\\\\[0-3][0-7]{2}',
  '\\\\\\r?\\n',
  '\\\\[_:=@.-]',
  // Joined string literals: operator first, at the end of a line, or next to each other.
  `[+&~.]\\s?["'\`][A-Za-z0-9_=/+.-]`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s?[+&~]\\s`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s?[+&~.]["'\`]`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s["'\`][A-Za-z0-9_=/+.-]`,
  `[A-Za-z0-9_=/+.@-]["'\`]\\r?\\n\\s{0,16}["'\`][A-Za-z0-9_=/+.-]`,
  // Literals with a blank at the joint, and parts of a value in variables, members and elements of a list.
  `["'\`] ?\\+ ?["'\`] [A-Za-z0-9]`,
  `[0-9] ["']\\r?\\n\\s{0,16}["'][0-9]`,
  `["'];\\s?[A-Za-z_]{1,8}=["']`,
  ...NUMBERED_NAMES.map((name) => `["']${name}_?2["']`),
  `["']["']\\.join\\([[(]["']`,
  // Comments, empty elements and emphasis inside a word.
  '[A-Za-z0-9@]<!--',
  '[0-9] <!--',
  '[A-Za-z0-9@.]<[a-z]{1,4}></',
  '@\\*{1,3}[a-z0-9]',
  // Spaced letters: `s k - a b c`.
  '(?<![^\\s])[^\\s] [^\\s] [^\\s] [^\\s] [^\\s] [^\\s] ',
  '(?<![A-Za-z0-9_.-])[A-Za-z0-9+]-[!-~]-[ -~]-[ -~]-[ -~]-[ -~]-',
  '(?<![A-Za-z0-9_.-])[A-Za-z0-9+]\\.[!-~]\\.[ -~]\\.[ -~]\\.[ -~]\\.[ -~]\\.',
];
