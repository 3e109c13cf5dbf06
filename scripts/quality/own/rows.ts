import type { CorpusRow } from '../../../src/features/quality/index.ts';

/**
 * Labelled rows that were written for this repository, so that every checkout can measure. The part to be
 * found is between `«` and `»`; each entry has its type and its text. They are based on documents of vendors,
 * offices and manuals, and not on the detectors: a row that no detector finds stays here, and counts.
 */
export interface OwnRows {
  readonly positive: readonly (readonly [type: string, text: string])[];
  readonly benign: readonly (readonly [type: string, text: string])[];
}

/**
 * Returns the rows in the format of a file of labelled rows. `label` is the label of a row with something to
 * find.
 */
export function getRows({ positive, benign }: OwnRows, label: string): readonly CorpusRow[] {
  const marked = positive.map(([type, text]) => ({ type, label, ...parseMarkedText(type, text) }));
  const plain = benign.map(([type, text]) => ({ type, label: 'benign', text, labels: [] }));
  return [...marked, ...plain].map((row, at) => ({
    ...row,
    id: `own-${row.label === 'benign' ? 'benign' : 'positive'}-${at + 1}`,
    line: at + 1,
    source: 'own',
    tier: null,
    os: null,
  }));
}

function parseMarkedText(type: string, text: string): Pick<CorpusRow, 'text' | 'labels'> {
  const [before = '', ...parts] = text.split('«');
  let plain = before;
  const labels = parts.map((part) => {
    const [inside = '', after = ''] = part.split('»');
    const start = plain.length;
    plain += inside + after;
    return { start, end: start + inside.length, type };
  });
  return { text: plain, labels };
}

export const HEX = '0123456789abcdef';
export const DIGITS = '0123456789';
export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const MIXED = `${LETTERS}${DIGITS}`;

/** Returns a source of bodies that look random and are the same in every run. */
export function createBodyGenerator(seed: number): (length: number, alphabet?: string) => string {
  let state = seed >>> 0;
  return (length, alphabet = MIXED) => {
    let text = '';
    while (text.length < length) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      text += alphabet[(state >>> 12) % alphabet.length];
    }
    return text;
  };
}
