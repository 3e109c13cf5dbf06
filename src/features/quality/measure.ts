import type { Policy, Severity } from '../../core/types/index.ts';
import type { Category } from './category.ts';
import { FACTS } from './category.ts';
import type { Row } from './corpus.ts';
import {
  countRow,
  type Figures,
  type Mistake,
  noFigures,
  type Shares,
  shareOf,
  sharesOf,
  type Tally,
} from './figures.ts';
import { type Prediction, predict } from './predict.ts';

/** The figures of a group of rows, or of labelled places of one type. */
export interface Group extends Tally, Shares {
  readonly name: string;
}

/** What a measurement came to. It holds ids and names, and no text. */
export interface QualityReport extends Group {
  readonly category: Category;
  /** Rows in the file; those that are neither positive nor benign are not counted in anything else. */
  readonly rows: number;
  /** Rows that the service would not look at to their end. */
  readonly partial: number;
  /** The share of found places whose rule is of the right type; `null` where types have no names in the corpus. */
  readonly type_accuracy: number | null;
  /** All labelled places together; `null` where places are not labelled. */
  readonly spans: Group | null;
  readonly sources: readonly Group[];
  readonly systems: readonly Group[];
  readonly tiers: readonly Group[];
  readonly types: readonly Group[];
  readonly misses: readonly Mistake[];
  readonly false_alarms: readonly Mistake[];
}

export interface Measurement {
  readonly category: Category;
  readonly policy: Policy;
  /** Findings of less severity do not count. */
  readonly severity_min: Severity;
  /** Called for each row, in the order of the file, and waited for. */
  readonly onRow?: (row: Row, prediction: Prediction) => Promise<void> | void;
}

/** Measures a policy's detection on labelled rows, from a file (`readCorpus`) or from anywhere. */
export async function measureRows(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { category, policy, severity_min, onRow }: Measurement,
): Promise<QualityReport> {
  const figures = noFigures();
  let count = 0;
  let partial = 0;
  for await (const row of rows) {
    const prediction = predict(row.text, category, policy, severity_min);
    countRow(figures, category, row, prediction);
    count += 1;
    if (prediction.is_partial) partial += 1;
    await onRow?.(row, prediction);
  }
  return reportOf(category, figures, count, partial);
}

const NOTHING: Tally = { positives: 0, found: 0, negatives: 0, alarms: 0 };

function reportOf(category: Category, figures: Figures, rows: number, partial: number): QualityReport {
  const { groups, typed, misses, false_alarms } = figures;
  const spans = groups.get('spans');
  return {
    category,
    ...groupOf('all', groups.get('all') ?? NOTHING),
    rows,
    partial,
    type_accuracy: category === 'pii' ? shareOf(typed.right, typed.found) : null,
    spans: FACTS[category].has_spans && spans !== undefined ? groupOf('spans', spans) : null,
    sources: groupsOf(groups, 'source '),
    systems: groupsOf(groups, 'os '),
    tiers: groupsOf(groups, 'tier '),
    types: groupsOf(groups, 'type '),
    misses,
    false_alarms,
  };
}

function groupsOf(groups: ReadonlyMap<string, Tally>, kind: string): readonly Group[] {
  return [...groups]
    .filter(([name]) => name.startsWith(kind))
    .map(([name, tally]) => groupOf(name.slice(kind.length), tally))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function groupOf(name: string, tally: Tally): Group {
  return { name, ...tally, ...sharesOf(tally) };
}
