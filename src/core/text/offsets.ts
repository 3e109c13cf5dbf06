/**
 * Converts UTF-16 offsets in `text` to counts of the Unicode code points before them, in the order given. It makes
 * one pass over the text for all offsets. A lone surrogate counts as one code point.
 */
export function convertToCodePoints(text: string, offsets: readonly number[]): number[] {
  const order = [...offsets.keys()].sort((a, b) => offsets[a]! - offsets[b]!);
  const points = new Array<number>(offsets.length);
  let at = 0;
  let pairs = 0;
  for (const index of order) {
    const offset = offsets[index]!;
    for (; at < offset; at++) {
      if (at > 0 && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) pairs += 1;
    }
    points[index] = offset - pairs;
  }
  return points;
}

/**
 * Converts counts of Unicode code points in `text` to UTF-16 offsets, in the order given. It makes one pass over the
 * text for all of them. A count beyond the text is its end.
 */
export function convertFromCodePoints(text: string, points: readonly number[]): number[] {
  const order = [...points.keys()].sort((a, b) => points[a]! - points[b]!);
  const offsets = new Array<number>(points.length);
  let at = 0;
  let passed = 0;
  for (const index of order) {
    for (; passed < points[index]! && at < text.length; passed++) at += isPair(text, at) ? 2 : 1;
    offsets[index] = at;
  }
  return offsets;
}

/** Returns the number of Unicode code points in a text. A lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += isPair(text, at) ? 2 : 1;
  return count;
}

function isPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Returns whether a UTF-16 unit is the second one in a pair. */
export function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
