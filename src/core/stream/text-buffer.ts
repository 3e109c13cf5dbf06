/**
 * A text that grows at its end and keeps only its last part. Offsets count from the beginning of the text.
 */
export interface TextBuffer {
  /** The offset at which the kept part begins. */
  base: number;
  end: number;
  flat: string;
  /** Pieces that were added since `flat` was built; `end` includes them. */
  readonly fresh: string[];
  fresh_units: number;
}

/** The number of units kept before the scan's front, for context and for windows around decoded parts. */
const KEPT_UNITS = 4096;

/** Returns an empty text that begins at the given offset. */
export function createTextBuffer(base = 0): TextBuffer {
  return { base, end: base, flat: '', fresh: [], fresh_units: 0 };
}

/** Appends a piece. */
export function appendText(text: TextBuffer, piece: string): void {
  text.fresh.push(piece);
  text.fresh_units += piece.length;
  text.end += piece.length;
}

/** Returns the kept part as one string, which begins at `base`. */
export function readBuffer(text: TextBuffer): string {
  if (text.fresh.length > 0) {
    text.flat += text.fresh.join('');
    text.fresh.length = 0;
    text.fresh_units = 0;
  }
  return text.flat;
}

/** Returns the units from `start` to `end`; both must be in the kept part. */
export function sliceBuffer(text: TextBuffer, start: number, end: number): string {
  return readBuffer(text).slice(start - text.base, end - text.base);
}

/**
 * Drops text that lies more than `KEPT_UNITS` before the offset that `before` returns. It drops in large steps, so
 * that the cost is linear.
 */
export function trimBuffer(text: TextBuffer, before: () => number): void {
  if (text.end - text.base < 2 * KEPT_UNITS) return;
  const base = Math.max(text.base, before() - KEPT_UNITS);
  if (base - text.base < Math.max(KEPT_UNITS, (text.end - base) / 2)) return;
  text.flat = readBuffer(text).slice(base - text.base);
  text.base = base;
}
