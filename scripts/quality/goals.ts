/** Compares figures with the goals of detection. */
import type { Category, FigureGroup } from '../../src/features/quality/index.ts';
import type { FreshFigures, Transformation } from './fresh.ts';
import type { QualityMeasurement } from './measure.ts';

/** The least recall and the highest share of false positives, without label noise. */
interface Goal {
  readonly recall: number;
  /** `null` if the rows are attacks only. */
  readonly false_positives: number | null;
}

type Goals = Readonly<Record<Category, Goal>>;

const CORPORA_GOALS: Goals = {
  secrets: { recall: 0.96, false_positives: 0.004 },
  pii: { recall: 0.95, false_positives: 0.01 },
  injection: { recall: 0.7, false_positives: 0.005 },
  commands: { recall: 0.9, false_positives: 0.01 },
};
const FRESH_GOALS: Goals = {
  secrets: { recall: 0.93, false_positives: 0.05 },
  pii: { recall: 0.92, false_positives: 0.02 },
  injection: { recall: 0.6, false_positives: 0.005 },
  commands: { recall: 0.65, false_positives: null },
};
const TRANSFORMATION_RECALL_MIN = 0.9;

/**
 * Transformations that no program undoes: changing the case or the letters of a token destroys it, and Pig Latin moves
 * letters behind words whose ends it does not mark.
 */
const LOSSY: ReadonlySet<string> = new Set(['alternating case', 'leet', 'pig latin']);

/** Renders the tables of goals: goal, reached, and whether it is missed. */
export function renderGoals(corpora: readonly QualityMeasurement[], fresh: FreshFigures): string {
  const rows = [
    ...corpora.map(({ category, report }) =>
      renderGoal('corpora', category, CORPORA_GOALS[category], report.without_label_noise),
    ),
    ...[...fresh.categories].map(([category, group]) =>
      renderGoal('fresh', category, FRESH_GOALS[category], group),
    ),
  ];
  const missed = fresh.transformations.filter((each) => getRecall(each) < TRANSFORMATION_RECALL_MIN);
  const reached = fresh.transformations.length - missed.length;
  return `| Rows | Category | Recall: goal | reached | False positives: goal | reached | |
|---|---|---|---|---|---|---|
${rows.join('\n')}

Of ${fresh.transformations.length} transformations of values (\`obfuscations\`), ${reached} are undone for at least ${formatShare(TRANSFORMATION_RECALL_MIN)} of their values. The others:

| Transformation | Found | Of | Recall | |
|---|---|---|---|---|
${missed.map(renderTransformation).join('\n')}
`;
}

function renderGoal(
  rows: string,
  category: Category,
  { recall, false_positives }: Goal,
  group: FigureGroup,
): string {
  const isReached =
    (group.recall ?? 0) >= recall &&
    (false_positives === null || (group.false_alarm_rate ?? 0) <= false_positives);
  const cells = [
    rows,
    category,
    formatShare(recall),
    `${formatShare(group.recall)} of ${group.positives}`,
    formatShare(false_positives),
    false_positives === null ? '' : `${formatShare(group.false_alarm_rate)} of ${group.negatives}`,
    isReached ? 'reached' : '**missed**',
  ];
  return `| ${cells.join(' | ')} |`;
}

function renderTransformation(transformation: Transformation): string {
  const { name, positives, found } = transformation;
  const note = LOSSY.has(name) ? 'loses the value' : '';
  return `| ${name} | ${found} | ${positives} | ${formatShare(getRecall(transformation))} | ${note} |`;
}

function getRecall({ positives, found }: Transformation): number {
  return positives === 0 ? 0 : found / positives;
}

function formatShare(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}
