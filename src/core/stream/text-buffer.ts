/** A text that grows at its end, of which only the last part is at hand. Offsets count from its beginning. */
export interface TextBuffer {
  /** What is at hand begins here. */
  base: number;
  end: number;
  flat: string;
  /** What came since `flat` was made; `end` counts it. */
  readonly fresh: string[];
  fresh_units: number;
}

/** How much stays at hand before what is still looked at: contexts, and windows around places that read otherwise. */
const KEPT_UNITS = 4096;

/** An empty text, which begins at the given offset. */
export function createTextBuffer(base = 0): TextBuffer {
  return { base, end: base, flat: '', fresh: [], fresh_units: 0 };
}

/** Adds a piece. */
export function appendText(text: TextBuffer, piece: string): void {
  text.fresh.push(piece);
  text.fresh_units += piece.length;
  text.end += piece.length;
}

/** All that is at hand, as one string that begins at `base`. */
export function readBuffer(text: TextBuffer): string {
  if (text.fresh.length > 0) {
    text.flat += text.fresh.join('');
    text.fresh.length = 0;
    text.fresh_units = 0;
  }
  return text.flat;
}

/** The units from `start` to `end`, both at hand. */
export function sliceBuffer(text: TextBuffer, start: number, end: number): string {
  return readBuffer(text).slice(start - text.base, end - text.base);
}

/**
 * Lets go of what stands more than `KEPT_UNITS` before the offset that is asked for; in large steps, so that the
 * cost is linear.
 */
export function trimBuffer(text: TextBuffer, before: () => number): void {
  if (text.end - text.base < 2 * KEPT_UNITS) return;
  const base = Math.max(text.base, before() - KEPT_UNITS);
  if (base - text.base < Math.max(KEPT_UNITS, (text.end - base) / 2)) return;
  text.flat = readBuffer(text).slice(base - text.base);
  text.base = base;
}
