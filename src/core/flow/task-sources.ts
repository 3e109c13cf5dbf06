import { getContentSource } from '../json/source.ts';
import type { Content, SeenLabel, ValuesSeen } from '../types/index.ts';
import { listHiddenPieces } from './atoms.ts';
import { foldValue, listReadings } from './fold-value.ts';
import { isPermitting, isUntrusted } from './labels.ts';
import { trimBlanks } from './pieces.ts';
import { findShingles } from './shingles.ts';
import { isTrivial, listLeaves, readLeaf } from './sinks.ts';
import { findWholeLabels, PIECES_MAX, SHINGLES_MAX } from './value-labels.ts';

/**
 * Returns whether a call's arguments have a value that a stranger wrote, and that comes from no source which the person
 * named or the task lists. A session that could not keep all of strangers' values counts as having one.
 */
export function hasForeignValue(content: Content, seen: ValuesSeen): boolean {
  if (seen.full.includes('untrusted') || seen.full.includes('shingle')) return true;
  if (content.kind === 'text') return isForeign(content.text, false, seen);
  const { root, text } = getContentSource(content);
  return listLeaves(root, null).some((leaf) => {
    const { written, is_number } = readLeaf(leaf, text);
    return !isTrivial(leaf.node, written, null) && isForeign(written, is_number, seen);
  });
}

function isForeign(written: string, isNumber: boolean, seen: ValuesSeen): boolean {
  const value = trimBlanks(written);
  const whole = findWholeLabels(value, isNumber, seen);
  if (whole.some(({ label }) => isPermitting(label))) return false;
  if (hasUntrusted(whole)) return true;
  return (
    listReadings(value).some(
      (reading) =>
        isForeignPiece(reading, seen) ||
        listHiddenPieces(reading, PIECES_MAX).some((piece) => isForeignPiece(piece, seen)),
    ) ||
    findShingles(value, seen.hashValue, SHINGLES_MAX).some(({ hash }) => {
      const labels = seen.findLabels(hash);
      return hasUntrusted(labels) && !labels.some(({ label }) => isPermitting(label));
    })
  );
}

function isForeignPiece(text: string, seen: ValuesSeen): boolean {
  const folded = seen.findLabels(seen.hashValue('folded', foldValue(text)));
  if (!hasUntrusted(folded)) return false;
  return !findWholeLabels(trimBlanks(text), false, seen).some(({ label }) => isPermitting(label));
}

function hasUntrusted(labels: readonly SeenLabel[]): boolean {
  return labels.some(({ label }) => isUntrusted(label));
}
