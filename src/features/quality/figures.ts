import { CATEGORY_FACTS, type Category } from './category.ts';
import type { CorpusRow, LabelledSpan } from './corpus.ts';
import { isLabelNoise } from './label-noise.ts';
import type { Prediction } from './predict-hits.ts';
import { isTypeCorrect } from './type-patterns.ts';

/**
 * The counts of a group of rows: positive rows and how many were detected, benign rows and how many were false
 * positives.
 */
export interface Tally {
  positives: number;
  found: number;
  negatives: number;
  alarms: number;
}

/** A row with a wrong result, without its text. */
export interface Mistake {
  readonly id: string;
  /** The line in the corpus. */
  readonly line: number;
  readonly source: string;
  readonly type: string | null;
  /** The detectors whose findings caused a false positive. */
  readonly rule_ids: readonly string[];
}

/**
 * The counts over all rows. Groups are named `all`, `clean` (without label noise), `source X`, `os X`, `tier X`, `type X`
 * and `spans`.
 */
export interface QualityFigures {
  readonly groups: Map<string, Tally>;
  /** The labelled spans that were detected, and how many of them by a rule of the correct type. */
  readonly typed: { found: number; right: number };
  readonly misses: Mistake[];
  readonly false_alarms: Mistake[];
}

/** The groups with their own figures. Further groups are counted as `(others)` of their kind. */
const GROUPS_MAX = 10_000;
/** The mistakes of each kind that are kept. The figures count all mistakes. */
const MISTAKES_MAX = 10_000;

/** Types of personal data that occur in free text and need a language model. Spans of these types are not counted. */
const UNSTRUCTURED = new Set(
  (
    'PERSON ADDRESS LOCATION ORG DATE TITLE AGE NRP NATIONALITY ZIP_CODE CARD_EXPIRY DATE_OF_BIRTH FACILITY EVENT ' +
    'JOB RELIGION COUNTRY CITY PREFIX'
  ).split(' '),
);

/** Returns figures that count nothing yet. */
export function createFigures(): QualityFigures {
  return { groups: new Map(), typed: { found: 0, right: 0 }, misses: [], false_alarms: [] };
}

/**
 * Counts a row. A positive row is detected if a hit overlaps one of its labelled spans; without labelled spans, if the
 * text is flagged. A benign row with any hit is a false positive. Rows with another label (`benign-for:TYPE`) are not
 * counted.
 */
export function countRow(
  figures: QualityFigures,
  category: Category,
  row: CorpusRow,
  prediction: Prediction,
): void {
  const { label, labels, hits } =
    category === 'pii' ? removeUnstructured(row, prediction) : { ...row, ...prediction };
  const { positive, has_spans } = CATEGORY_FACTS[category];
  const groups = ['all', `source ${row.source}`];
  if (!isLabelNoise(category, { ...row, label, labels })) groups.push('clean');
  if (row.os !== null) groups.push(`os ${row.os}`);
  if (!has_spans && row.type !== null) groups.push(`type ${row.type}`);
  if (label === positive) {
    if (row.tier !== null) groups.push(`tier ${row.tier}`);
    const isFound = has_spans ? labels.some((each) => isHit(each, hits)) : hits.length > 0;
    for (const group of groups) countPositive(figures, group, isFound);
    if (has_spans) for (const each of labels) countLabel(figures, each, hits);
    if (!isFound) addMistake(figures.misses, { ...row, labels }, []);
  } else if (label === 'benign') {
    const isAlarm = hits.length > 0;
    for (const group of groups) countNegative(figures, group, isAlarm);
    if (isAlarm) addMistake(figures.false_alarms, row, [...new Set(hits.map(({ type }) => type))]);
  }
}

type Hits = Prediction['hits'];

/**
 * Removes labels that need a language model, and hits that overlap only them. A row that has no other label counts as
 * benign.
 */
function removeUnstructured(row: CorpusRow, { hits }: Prediction) {
  const soft = row.labels.filter(({ type }) => UNSTRUCTURED.has(type));
  const labels = row.labels.filter(({ type }) => !UNSTRUCTURED.has(type));
  return {
    label: row.label === CATEGORY_FACTS.pii.positive && labels.length === 0 ? 'benign' : row.label,
    labels,
    hits: hits.filter(
      (hit) =>
        !soft.some((each) => overlapsSpan(hit, each)) || labels.some((each) => overlapsSpan(hit, each)),
    ),
  };
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

function overlapsSpan(a: TextSpan, b: TextSpan): boolean {
  return a.start < b.end && b.start < a.end;
}

function isHit(label: LabelledSpan, hits: Hits): boolean {
  return hits.some((hit) => overlapsSpan(hit, label));
}

function findTally({ groups }: QualityFigures, group: string): Tally {
  const isListed = groups.size < GROUPS_MAX || groups.has(group);
  const name = isListed ? group : group.replace(/ .*/s, ' (others)');
  const known = groups.get(name) ?? { positives: 0, found: 0, negatives: 0, alarms: 0 };
  groups.set(name, known);
  return known;
}

function countPositive(figures: QualityFigures, group: string, isFound: boolean): void {
  const counts = findTally(figures, group);
  counts.positives += 1;
  if (isFound) counts.found += 1;
}

function countNegative(figures: QualityFigures, group: string, isAlarm: boolean): void {
  const counts = findTally(figures, group);
  counts.negatives += 1;
  if (isAlarm) counts.alarms += 1;
}

function countLabel(figures: QualityFigures, label: LabelledSpan, hits: Hits): void {
  const onIt = hits.filter((hit) => overlapsSpan(hit, label));
  for (const group of ['spans', `type ${label.type}`]) countPositive(figures, group, onIt.length > 0);
  if (onIt.length === 0) return;
  figures.typed.found += 1;
  if (onIt.some(({ type, detector }) => isTypeCorrect(label.type, type, detector))) figures.typed.right += 1;
}

function addMistake(
  list: Mistake[],
  { id, line, source, type, labels }: CorpusRow,
  ruleIds: readonly string[],
): void {
  if (list.length >= MISTAKES_MAX) return;
  list.push({ id, line, source, type: type ?? labels[0]?.type ?? null, rule_ids: ruleIds });
}

/** The rates of a group, each from 0 to 1; `null` if there is nothing to count. */
export interface QualityRates {
  readonly recall: number | null;
  readonly false_alarm_rate: number | null;
  readonly precision: number | null;
  readonly f1: number | null;
}

/** Returns recall, the false positive rate over benign rows, precision and F1, rounded to four digits. */
export function computeRates({ positives, found, negatives, alarms }: Tally): QualityRates {
  const recall = positives === 0 ? null : found / positives;
  const precision = found + alarms === 0 ? null : found / (found + alarms);
  const sum = (recall ?? 0) + (precision ?? 0);
  return {
    recall: computeShare(found, positives),
    false_alarm_rate: computeShare(alarms, negatives),
    precision: computeShare(found, found + alarms),
    f1: positives === 0 ? null : roundShare(sum === 0 ? 0 : (2 * (recall ?? 0) * (precision ?? 0)) / sum),
  };
}

/** Returns a share rounded to four digits; `null` if the whole is 0. */
export function computeShare(part: number, whole: number): number | null {
  return whole === 0 ? null : roundShare(part / whole);
}

function roundShare(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
