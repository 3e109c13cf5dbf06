import type { Policy, Severity } from '../../core/types/index.ts';
import type { Category } from './category.ts';
import { CATEGORY_FACTS } from './category.ts';
import type { CorpusRow } from './corpus.ts';
import {
  computeRates,
  computeShare,
  countRow,
  createFigures,
  type Mistake,
  type QualityFigures,
  type QualityRates,
  type Tally,
} from './figures.ts';
import { type Prediction, predictHits } from './predict-hits.ts';

/** The figures of a group of rows, or of labelled spans of one type. */
export interface FigureGroup extends Tally, QualityRates {
  readonly name: string;
}

/** The result of a measurement. It contains ids and names, but no text. */
export interface QualityReport extends FigureGroup {
  readonly category: Category;
  /** The rows in the file. Rows that are neither positive nor benign count only here. */
  readonly rows: number;
  /** The rows that the service would scan only in part. */
  readonly partial: number;
  /** The share of detected spans whose rule has the correct type; `null` if the corpus does not name types. */
  readonly type_accuracy: number | null;
  /** All labelled spans together; `null` if spans are not labelled. */
  readonly spans: FigureGroup | null;
  /** All rows but those whose label is noise (`isLabelNoise`). */
  readonly without_label_noise: FigureGroup;
  readonly sources: readonly FigureGroup[];
  readonly systems: readonly FigureGroup[];
  readonly tiers: readonly FigureGroup[];
  readonly types: readonly FigureGroup[];
  readonly misses: readonly Mistake[];
  readonly false_alarms: readonly Mistake[];
}

export interface Measurement {
  readonly category: Category;
  readonly policy: Policy;
  /** Findings of lower severity do not count. */
  readonly severity_min: Severity;
  /** Called for each row, in the order of the file. The next row waits until it resolves. */
  readonly onRow?: (row: CorpusRow, prediction: Prediction) => Promise<void> | void;
}

/** Measures the detection of a policy on labelled rows, from a file (`readCorpus`) or any other source. */
export async function measureRows(
  rows: AsyncIterable<CorpusRow> | Iterable<CorpusRow>,
  { category, policy, severity_min, onRow }: Measurement,
): Promise<QualityReport> {
  const figures = createFigures();
  let count = 0;
  let partial = 0;
  for await (const row of rows) {
    const prediction = predictHits(row.text, category, policy, severity_min);
    countRow(figures, category, row, prediction);
    count += 1;
    if (prediction.is_partial) partial += 1;
    await onRow?.(row, prediction);
  }
  return buildReport(category, figures, count, partial);
}

const NOTHING: Tally = { positives: 0, found: 0, negatives: 0, alarms: 0 };

function buildReport(
  category: Category,
  figures: QualityFigures,
  rows: number,
  partial: number,
): QualityReport {
  const { groups, typed, misses, false_alarms } = figures;
  const spans = groups.get('spans');
  return {
    category,
    ...buildGroup('all', groups.get('all') ?? NOTHING),
    rows,
    partial,
    type_accuracy: category === 'pii' ? computeShare(typed.right, typed.found) : null,
    spans: CATEGORY_FACTS[category].has_spans && spans !== undefined ? buildGroup('spans', spans) : null,
    without_label_noise: buildGroup('without label noise', groups.get('clean') ?? NOTHING),
    sources: buildGroups(groups, 'source '),
    systems: buildGroups(groups, 'os '),
    tiers: buildGroups(groups, 'tier '),
    types: buildGroups(groups, 'type '),
    misses,
    false_alarms,
  };
}

function buildGroups(groups: ReadonlyMap<string, Tally>, kind: string): readonly FigureGroup[] {
  return [...groups]
    .filter(([name]) => name.startsWith(kind))
    .map(([name, tally]) => buildGroup(name.slice(kind.length), tally))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function buildGroup(name: string, tally: Tally): FigureGroup {
  return { name, ...tally, ...computeRates(tally) };
}
