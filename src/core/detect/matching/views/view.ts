/**
 * A decoded form of a part of a text, and the source units of each of its units. It is a row of pieces. A
 * plain piece equals the source unit for unit. A decoded piece has one span: a match that touches it covers
 * the whole source of the piece.
 */
export interface View {
  readonly text: string;
  /** Per piece, its start in the view, and its source units. */
  readonly starts: readonly number[];
  readonly source_starts: readonly number[];
  readonly source_ends: readonly number[];
  readonly is_decoded: readonly boolean[];
}

/** A view under construction. */
export interface ViewBuilder {
  readonly parts: string[];
  readonly starts: number[];
  readonly source_starts: number[];
  readonly source_ends: number[];
  readonly is_decoded: boolean[];
  length: number;
}

/** The most units between a context word and the value that it explains. */
export const VIEW_CONTEXT_UNITS = 64;

/** Creates an empty view. */
export function startView(): ViewBuilder {
  return { parts: [], starts: [], source_starts: [], source_ends: [], is_decoded: [], length: 0 };
}

/**
 * Adds `text` as the decoded form of the units from `start` to `end` of the source. An empty text leaves them
 * out.
 */
export function addDecoded(builder: ViewBuilder, text: string, start: number, end: number): void {
  addViewPiece(builder, text, start, end, true);
}

/** Adds the units from `start` to `end` of the source text unchanged. */
export function addPlain(builder: ViewBuilder, source: string, start: number, end: number): void {
  if (end > start) addViewPiece(builder, source.slice(start, end), start, end, false);
}

/** Returns the view of the added pieces, in that order. */
export function finishView({ parts, length: _, ...pieces }: ViewBuilder): View {
  return { text: parts.join(''), ...pieces };
}

/** Returns the span of the source text for a span of the view. */
export function toSource(view: View, start: number, end: number): { start: number; end: number } {
  const first = findPiece(view, start);
  const last = findPiece(view, end - 1);
  const from = view.is_decoded[first]
    ? view.source_starts[first]!
    : view.source_starts[first]! + start - view.starts[first]!;
  const to = view.is_decoded[last]
    ? view.source_ends[last]!
    : view.source_starts[last]! + end - view.starts[last]!;
  return from < to
    ? { start: from, end: to }
    : { start: view.source_starts[last]!, end: view.source_ends[first]! };
}

/** Returns whether a match, or the context shortly before it, differs from the source text. */
export function isChangedInView(view: View, start: number, end: number): boolean {
  const last = findPiece(view, end - 1);
  // At the start of a view, pieces that were left out also count, because the view differs without them.
  const first = start <= VIEW_CONTEXT_UNITS ? 0 : findPiece(view, start - VIEW_CONTEXT_UNITS);
  for (let piece = first; piece <= last; piece++) {
    if (view.is_decoded[piece]) return true;
  }
  return false;
}

/** Adds a piece of source units, decoded or plain. */
export function addViewPiece(
  builder: ViewBuilder,
  text: string,
  sourceStart: number,
  sourceEnd: number,
  isDecoded: boolean,
): void {
  builder.parts.push(text);
  builder.starts.push(builder.length);
  builder.source_starts.push(sourceStart);
  builder.source_ends.push(sourceEnd);
  builder.is_decoded.push(isDecoded);
  builder.length += text.length;
}

/** Returns the last piece that starts at or before the offset, and skips pieces that were left out. */
function findPiece({ starts }: View, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
