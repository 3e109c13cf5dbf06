import { COMPATIBLE, COMPATIBLE_PAIR, INVISIBLE, LOOKALIKE, TAG_PAIR } from './fold.ts';

/**
 * Anchors of places with a possible other reading. They are in the automaton of the
 * detectors, so that a text without such places pays nothing for them.
 */
export const decodingSignals: readonly string[] = [
  INVISIBLE,
  COMPATIBLE,
  COMPATIBLE_PAIR,
  TAG_PAIR,
  // Sequences for a terminal, as they are, as they are written in code, and without their first character.
  '\u001b',
  '\\\\e\\[',
  '\\[[0-9][0-9;]{0,3}m[A-Za-z0-9]',
  '\\[[0-9]m[A-Za-z0-9]',
  '\\[[0-9;]{5,12}m[A-Za-z0-9]',
  `[A-Za-z0-9_-]${LOOKALIKE}`,
  `${LOOKALIKE}[A-Za-z0-9_-]`,
  // Percent encoding of ASCII; of other letters only what addresses have in common with it.
  '%[2-7][0-9A-Fa-f]',
  '&#[0-9xX]',
  '&[a-zA-Z]{2,7};',
  '\\\\[uU][0-9A-Fa-f{]{2}',
  '\\\\x[0-9A-Fa-f]{2}',
  '\\\\[0-3][0-7]{2}',
  '\\\\\\r?\\n',
  '\\\\[_:=@.-]',
  // String literals that continue each other: operator first, at the end of a line, or side by side.
  `[+&~.]\\s?["'\`][A-Za-z0-9_=/+.-]`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s?[+&~]\\s`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s?[+&~.]["'\`]`,
  `[A-Za-z0-9_=/+.-]["'\`]\\s["'\`][A-Za-z0-9_=/+.-]`,
  `[A-Za-z0-9_=/+.-]["'\`]\\r?\\n\\s{0,16}["'\`][A-Za-z0-9_=/+.-]`,
  // Letters apart: `s k - a b c`.
  '(?<![^\\s])[^\\s] [^\\s] [^\\s] [^\\s] [^\\s] [^\\s] ',
];
