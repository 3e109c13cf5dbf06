import { type Anchor, hasUnit, type UnitSet } from './anchors.ts';

/**
 * Most heads are found where their anchor does not go on, or does not begin: one look at the unit behind the head
 * and at the one before the anchor says so. For ASCII only: the rest is compared in any case.
 */
export interface Filters {
  /** Per entry, four numbers of bits for the unit behind its head, and four for the one before its anchor. */
  readonly bits: Int32Array;
  /** 1 where they are filled in, which is at the first hit. */
  readonly is_made: Uint8Array;
}

const NUMBERS = 8;
const BEFORE = 4;
const ASCII_UNITS = 128;
/** The letters of escapes may stand before a word, behind a backslash. */
const ESCAPE_LETTERS = [110, 114, 116];

/** Filters of so many entries, none of them made. */
export function makeFilters(entries: number): Filters {
  return { bits: new Int32Array(entries * NUMBERS), is_made: new Uint8Array(entries) };
}

/** Fills in what may stand around the anchor of an entry whose head reaches so far. */
export function addFilter({ bits, is_made }: Filters, entry: number, anchor: Anchor, reach: number): void {
  const { sets, not_after, not_before } = anchor;
  const next = sets[reach] ?? null;
  const not_next = reach === sets.length ? not_before : null;
  for (let unit = 0; unit < ASCII_UNITS; unit++) {
    if (next === null ? isFree(not_next, unit) : hasUnit(next, unit)) setBit(bits, entry * NUMBERS, unit);
    const is_escape = not_after !== null && hasUnit(not_after, 110) && ESCAPE_LETTERS.includes(unit);
    if (is_escape || isFree(not_after, unit)) setBit(bits, entry * NUMBERS + BEFORE, unit);
  }
  is_made[entry] = 1;
}

/** Whether the anchor of an entry may stand between these units. */
export function passes({ bits }: Filters, entry: number, before: number, next: number): boolean {
  const at = entry * NUMBERS;
  if (next < ASCII_UNITS && ((bits[at + (next >> 5)]! >>> (next & 31)) & 1) === 0) return false;
  return before >= ASCII_UNITS || ((bits[at + BEFORE + (before >> 5)]! >>> (before & 31)) & 1) === 1;
}

function isFree(forbidden: UnitSet | null, unit: number): boolean {
  return forbidden === null || !hasUnit(forbidden, unit);
}

function setBit(bits: Int32Array, from: number, unit: number): void {
  bits[from + (unit >> 5)]! |= 1 << (unit & 31);
}
