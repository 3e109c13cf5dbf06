import { isCoveredBy } from '../tags.ts';
import type { Label, SeenLabel, ValueForm, ValuesSeen } from '../types/index.ts';
import { listHiddenPieces } from './atoms.ts';
import { foldValue, listReadings } from './fold-value.ts';
import { addLabels, isPermitting, isUnknown, isUntrusted, UNKNOWN } from './labels.ts';
import { normalizeNumber } from './numbers.ts';
import { ATOM_UNITS_MAX, isPlaceholderText, trimBlanks } from './pieces.ts';
import { findShingles } from './shingles.ts';

/** The labels for a value in an argument. */
export interface ValueLabels {
  /** Labels for the whole value, exactly as it is written. Only these permit. */
  readonly whole: readonly SeenLabel[];
  /** Untrusted labels for its other readings and its parts. */
  readonly parts: readonly SeenLabel[];
}

/** Parts per value that are searched for, at most. */
export const PIECES_MAX = 256;
export const SHINGLES_MAX = 256;

/**
 * Returns a value's labels. A label that permits needs the exact characters, or for a number the same number. An
 * untrusted label is found in any spelling.
 *
 * @param isNumber - the argument is a number, so that numbers in a text endorse it
 */
export function findValueLabels(text: string, isNumber: boolean, seen: ValuesSeen): ValueLabels {
  const value = trimBlanks(text);
  return { whole: findWholeLabels(value, isNumber, seen), parts: findPartLabels(value, seen) };
}

/** Returns the labels for a trimmed value as a whole, and `unknown` if an argument had it before. */
export function findWholeLabels(value: string, isNumber: boolean, seen: ValuesSeen): readonly SeenLabel[] {
  const whole: SeenLabel[] = [];
  if (value.length > ATOM_UNITS_MAX || isPlaceholderText(value)) return whole;
  const number = isNumber ? normalizeNumber(value) : null;
  const exact = findForm('exact', value, seen);
  const equal = number === null ? [] : findForm('number', number, seen);
  addLabels(
    whole,
    [...exact, ...equal].filter(({ label }) => isInForce(label, seen)),
  );
  addLabels(
    whole,
    equal.filter(({ label }) => isUntrusted(label)),
  );
  addLabels(whole, findForm('folded', foldValue(number ?? value), seen));
  return whole;
}

function findForm(form: ValueForm, text: string, seen: ValuesSeen): readonly SeenLabel[] {
  return seen.findLabels(seen.hashValue(form, text));
}

function findPartLabels(value: string, seen: ValuesSeen): readonly SeenLabel[] {
  const parts: SeenLabel[] = [];
  for (const reading of listReadings(value)) {
    if (reading !== value) addLabels(parts, findForm('folded', foldValue(reading), seen));
    for (const piece of listHiddenPieces(reading, PIECES_MAX))
      addLabels(parts, findForm('folded', foldValue(piece), seen));
  }
  for (const { hash } of findShingles(value, seen.hashValue, SHINGLES_MAX))
    addLabels(parts, seen.findLabels(hash));
  return parts.filter(({ label }) => isUntrusted(label));
}

function isInForce(label: Label, { ended }: ValuesSeen): boolean {
  return isPermitting(label) && !isCoveredBy(ended, label);
}

/** Returns the labels to show: `unknown` if there is none, or `untrusted` if the session could not keep all values. */
export function listShownLabels({ whole, parts }: ValueLabels, { full }: ValuesSeen): readonly SeenLabel[] {
  const shown: SeenLabel[] = [];
  addLabels(
    shown,
    whole.filter(({ label }) => !isUnknown(label)),
  );
  addLabels(shown, parts);
  if (shown.length > 0) return shown;
  return [
    { label: full.includes('untrusted') || full.includes('shingle') ? 'untrusted' : UNKNOWN, event_id: null },
  ];
}

/** Returns whether one of the listed labels permits a value. */
export function isPermittedValue(labels: ValueLabels, anyOf: readonly Label[], seen: ValuesSeen): boolean {
  if (anyOf.includes(ANY)) return true;
  if (labels.whole.some(({ label }) => !isUnknown(label) && isCoveredBy(anyOf, label))) return true;
  return anyOf.includes(UNKNOWN) && listShownLabels(labels, seen).every(({ label }) => label === UNKNOWN);
}

/** In `any_of`: permits every value. */
export const ANY = 'any';
