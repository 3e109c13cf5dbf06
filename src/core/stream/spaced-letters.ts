/** Letters that stand apart at the end of a text: where the first of them is, and the last. */
export interface SpacedLetters {
  readonly start: number;
  readonly last: number;
}

/** So many spaces stand between letters that belong together. */
const GAP_MAX = 3;
const SPACE = 32;
const NO_BREAK_SPACE = 0xa0;
/** What may stand before the first of them. */
const BEFORE = /[\s=:,;"'`([{<]/;

/**
 * The letters that stand apart with which a text ends; both places are its end where there are none. `known` is
 * what there was when the text was shorter: so far back it is looked, and no farther.
 */
export function findSpacedLetters(text: string, known: SpacedLetters): SpacedLetters {
  let start = text.length;
  let last = start;
  for (let at = start; ; at = start) {
    let letter_end = at;
    while (letter_end > 0 && at - letter_end < GAP_MAX && isGap(text.charCodeAt(letter_end - 1)))
      letter_end -= 1;
    const is_there = letter_end > 0 && (letter_end < at || at === text.length);
    if (!is_there || isGap(text.charCodeAt(letter_end - 1))) break;
    if (letter_end > 1 && !BEFORE.test(text[letter_end - 2]!)) break;
    start = letter_end - 1;
    if (last === text.length) last = start;
    if (start === known.last) return { start: known.start, last };
  }
  return { start, last };
}

function isGap(unit: number): boolean {
  return unit === SPACE || unit === NO_BREAK_SPACE;
}
