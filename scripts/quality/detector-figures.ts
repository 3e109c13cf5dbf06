/**
 * Figures for each detector, in `data/detector-figures.json`: how often it finds on labelled rows, and how often on the
 * files and commands of an ordinary day. The pages of detectors and `customshouse detectors show` print them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Category } from '../../src/features/quality/index.ts';

/** Rows with something to find in which the detector found, and benign rows in which it found. */
export type LabelledCounts = readonly [found: number, false_positives: number];
/** Findings, files with a finding, and files or commands that it stopped. */
export type OrdinaryCounts = readonly [findings: number, files: number, stopped: number];

export interface DetectorFigures {
  readonly labelled: {
    /** The number of rows of each category: with something to find, and benign. */
    readonly rows: Readonly<Partial<Record<Category, readonly [number, number]>>>;
    readonly detectors: Readonly<Record<string, LabelledCounts>>;
  };
  readonly ordinary: {
    readonly files: number;
    readonly megabytes: number;
    readonly commands: number;
    readonly detectors: Readonly<Record<string, OrdinaryCounts>>;
  };
}

const FILE = join(import.meta.dirname, '../../data/detector-figures.json');

export function readDetectorFigures(): DetectorFigures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as DetectorFigures;
}

/** Writes one detector per line, sorted, so that changes are readable. */
export function writeDetectorFigures(figures: DetectorFigures): void {
  const sorted = {
    labelled: { rows: figures.labelled.rows, detectors: sortKeys(figures.labelled.detectors) },
    ordinary: { ...figures.ordinary, detectors: sortKeys(figures.ordinary.detectors) },
  };
  const text = JSON.stringify(sorted, null, 2).replaceAll(
    /\[\s+([\d.,\s]+?)\s+\]/g,
    (_whole, list: string) => `[${list.split(/,\s*/).join(', ')}]`,
  );
  writeFileSync(FILE, `${text}\n`);
}

function sortKeys<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Counts of one category, while its rows are measured. */
export interface LabelledTally {
  positives: number;
  benign: number;
  readonly detectors: Record<string, [number, number]>;
}

/** Counts a row, and the rules that found something in it. */
export function countLabelledRow(tally: LabelledTally, isBenign: boolean, ruleIds: readonly string[]): void {
  if (isBenign) tally.benign += 1;
  else tally.positives += 1;
  for (const id of new Set(ruleIds)) {
    const counts = tally.detectors[id] ?? [0, 0];
    counts[isBenign ? 1 : 0] += 1;
    tally.detectors[id] = counts;
  }
}

/** Replaces the figures of the measured categories; those of other categories are kept. */
export function mergeLabelled(tallies: ReadonlyMap<Category, LabelledTally>): void {
  const before = readDetectorFigures();
  const rows = { ...before.labelled.rows };
  const detectors = { ...before.labelled.detectors };
  for (const [category, tally] of tallies) {
    rows[category] = [tally.positives, tally.benign];
    Object.assign(detectors, tally.detectors);
  }
  writeDetectorFigures({ ...before, labelled: { rows, detectors } });
}
