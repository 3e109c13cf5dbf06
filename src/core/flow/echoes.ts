import { listDecodings } from './fold-value.ts';
import { findWords, splitJoinedWord, trimBlanks } from './pieces.ts';

/** Texts per value that a tool may give back. A value with more could hide one of them. */
const ECHOES_MAX = 128;
/** In UTF-16 units. Longer values are not read. */
const VALUE_UNITS_MAX = 4_096;

/**
 * Returns what a tool may make of an argument and give back: its decodings, its lines and list elements, and its words.
 * Returns `null` if there are too many.
 */
export function listEchoes(value: string): readonly string[] | null {
  if (value.length > VALUE_UNITS_MAX) return null;
  const found = new Set<string>();
  for (const reading of [value, ...listDecodings(value)]) {
    if (reading !== value) found.add(trimBlanks(reading));
    for (const part of reading.split(/[,;|\n]/)) found.add(trimBlanks(part));
    for (const word of reading.split(/\s+/)) found.add(word);
    for (const word of findWords(reading))
      for (const { text } of [word, ...splitJoinedWord(word)]) found.add(text);
    if (found.size > ECHOES_MAX) return null;
  }
  found.delete(value);
  found.delete('');
  return [...found];
}
