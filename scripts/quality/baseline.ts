/**
 * The recorded figures of detection quality, committed with the code, so that no change lowers one unnoticed.
 * They contain no text.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CATEGORIES,
  type Category,
  type FigureGroup,
  type QualityReport,
} from '../../src/features/quality/index.ts';

/** Positives, found, negatives, false positives. */
export type Counts = readonly [positives: number, found: number, negatives: number, alarms: number];

/** The figures of one set of rows. */
export interface BaselineFigures {
  /** The first characters of the SHA-256 of the rows, which identify them. */
  readonly rows: string;
  readonly type_accuracy: number | null;
  /** The number of rows that were scanned in part only. */
  readonly partial: number;
  /** Counts by group: `all`, `spans`, `source X`, `os X`, `tier X`, `type X`. */
  readonly groups: Readonly<Record<string, Counts>>;
}

/** The measured sets: the rows in the repository, and the external corpora. */
export const SETS = ['own', 'corpora'] as const;
export type RowSet = (typeof SETS)[number];

export type Baseline = Readonly<Record<RowSet, Readonly<Partial<Record<Category, BaselineFigures>>>>>;

const FILE = join(import.meta.dirname, 'baseline.json');

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
}

/**
 * Writes the baseline with one group per line, so that changes are readable. Sets that were not measured are
 * kept.
 */
export function writeBaseline(baseline: Baseline): void {
  const text = JSON.stringify(baseline, null, 2).replaceAll(
    /\[\s+(\d+),\s+(\d+),\s+(\d+),\s+(\d+)\s+\]/g,
    '[$1, $2, $3, $4]',
  );
  writeFileSync(FILE, `${text}\n`);
}

/** Returns a measurement in the format of the baseline. */
export function getReached(report: QualityReport, rows: string): BaselineFigures {
  const { spans, sources, systems, tiers, types, type_accuracy, partial } = report;
  const named = (kind: string, groups: readonly FigureGroup[]) =>
    groups.map((group) => [`${kind} ${group.name}`, group] as const);
  const groups = [
    ['all', report] as const,
    ...(spans === null ? [] : [['spans', spans] as const]),
    ...named('source', sources),
    ...named('os', systems),
    ...named('tier', tiers),
    ...named('type', types),
  ].map(([name, { positives, found, negatives, alarms }]) => [name, [positives, found, negatives, alarms]]);
  return { rows, type_accuracy, partial, groups: Object.fromEntries(groups) as BaselineFigures['groups'] };
}

/**
 * Returns a sentence for each regression: fewer found or more false positives in any group, a lower share of
 * right types, or rows other than those of the baseline.
 */
export function describeRegressions(
  name: string,
  before: BaselineFigures | undefined,
  now: BaselineFigures,
): readonly string[] {
  if (before === undefined) return [`${name}: the baseline has no figures`];
  if (before.rows !== now.rows) return [`${name}: the rows are others than those of the baseline`];
  const sentences = Object.entries(before.groups).flatMap(([group, [, found, , alarms]]) => {
    const [, nowFound, , nowAlarms] = now.groups[group] ?? [0, 0, 0, Number.POSITIVE_INFINITY];
    return [
      ...(nowFound < found ? [`${name}, ${group}: ${nowFound} found instead of ${found}`] : []),
      ...(nowAlarms > alarms ? [`${name}, ${group}: ${nowAlarms} false positives instead of ${alarms}`] : []),
    ];
  });
  const isLower = (now.type_accuracy ?? 0) < (before.type_accuracy ?? 0);
  if (isLower)
    sentences.push(`${name}: the type is right in ${now.type_accuracy} instead of ${before.type_accuracy}`);
  if (now.partial > before.partial)
    sentences.push(`${name}: ${now.partial} rows instead of ${before.partial} were scanned in part only`);
  return sentences;
}

/** Returns the baseline with the new measurements in place of the old ones. */
export function withReached(
  baseline: Baseline,
  measured: Readonly<Record<RowSet, ReadonlyMap<Category, BaselineFigures>>>,
): Baseline {
  const merged = (set: RowSet) =>
    Object.fromEntries(
      CATEGORIES.flatMap((category) => {
        const reached = measured[set].get(category) ?? baseline[set][category];
        return reached === undefined ? [] : [[category, reached]];
      }),
    );
  return { own: merged('own'), corpora: merged('corpora') };
}
