import type { Splice } from '../types/json.ts';

/**
 * Returns the text with some of its parts replaced; everything between them is copied unchanged. The order of the
 * splices does not matter. @throws RangeError if two splices overlap, because the result would be ambiguous
 */
export function applySplices(text: string, splices: readonly Splice[]): string {
  if (splices.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const each of splices.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    if (each.start < at || each.end < each.start || each.end > text.length) {
      throw new RangeError(
        `A splice at ${each.start} to ${each.end} overlaps another one or the text's end.`,
      );
    }
    parts.push(text.slice(at, each.start), each.text);
    at = each.end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/**
 * Returns a text as a JSON string, quotes included. Unpaired surrogates are escaped, so the result is valid UTF-8.
 */
export function quoteJson(text: string): string {
  return JSON.stringify(text);
}
