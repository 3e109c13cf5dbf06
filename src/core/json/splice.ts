import type { Splice } from '../types/json.ts';

/**
 * The text with other text in place of some of its parts; everything between them is copied as it is. The order
 * of the splices does not matter. Throws where two overlap, for then nobody can say what was meant.
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

/** A text as a JSON string, quotes included. Surrogates without a partner are escaped, so that UTF-8 can hold it. */
export function quoteJson(text: string): string {
  return JSON.stringify(text);
}
