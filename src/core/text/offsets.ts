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

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
