/** Spaced letters at the end of a text: the offset of the first letter and of the last one. */
export interface SpacedLetters {
  readonly start: number;
  readonly last: number;
}

/** The maximum number of spaces between letters that belong together. */
const GAP_MAX = 3;
const SPACE = 32;
const NO_BREAK_SPACE = 0xa0;
/** Characters that may precede the first letter. */
const BEFORE = /[\s=:,;"'`([{<]/;

/**
 * Returns the spaced letters at the end of a text; both offsets are its end if there are none. `known` is the
 * result for the shorter text before the last piece, and the search stops there.
 */
export function findSpacedLetters(text: string, known: SpacedLetters): SpacedLetters {
  let start = text.length;
  let last = start;
  for (let at = start; ; at = start) {
    let letterEnd = at;
    while (letterEnd > 0 && at - letterEnd < GAP_MAX && isGap(text.charCodeAt(letterEnd - 1))) letterEnd -= 1;
    const isThere = letterEnd > 0 && (letterEnd < at || at === text.length);
    if (!isThere || isGap(text.charCodeAt(letterEnd - 1))) break;
    if (letterEnd > 1 && !BEFORE.test(text[letterEnd - 2]!)) break;
    start = letterEnd - 1;
    if (last === text.length) last = start;
    if (start === known.last) return { start: known.start, last };
  }
  return { start, last };
}

function isGap(unit: number): boolean {
  return unit === SPACE || unit === NO_BREAK_SPACE;
}
