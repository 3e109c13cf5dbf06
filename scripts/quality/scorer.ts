/** Compares our figures with those of the corpora's own scorer, which defines them. */
import { execFileSync } from 'node:child_process';
import type { Category } from '../../src/features/quality/index.ts';
import type { BaselineFigures, Counts } from './baseline.ts';

/**
 * Runs `score.mjs` on the predictions, and returns a sentence for each group whose counts differ from ours.
 */
export function findScorerDifferences(
  scorer: string,
  corpus: string,
  predictions: string,
  category: Category,
  { groups }: BaselineFigures,
): readonly string[] {
  const args = [scorer, category, corpus, predictions, '--detail'];
  const [head = '', ...lines] = execFileSync(process.execPath, args, { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  const figures = JSON.parse(head) as Readonly<Record<string, number>>;
  const wrong = lines.flatMap((line) => {
    const [name = '', said = ''] = splitLine(line.trim());
    const counted = groups[name];
    return counted !== undefined && said === formatCounts(counted)
      ? []
      : [`${name}: \`${said}\` is counted otherwise`];
  });
  const [positives, found, negatives, alarms] = groups.all!;
  const headline = {
    missing: 0,
    positives,
    negatives,
    recall: computeShare(found, positives),
    false_alarm_rate: computeShare(alarms, negatives),
    precision: computeShare(found, found + alarms),
  };
  for (const [name, value] of Object.entries(headline))
    if (figures[name] !== value) wrong.push(`${name}: ${figures[name]} there, ${value} here`);
  return wrong;
}

/**
 * Splits a line into the name and the figures, which follow the last name: `  source a: b: recall 1 of 2`.
 */
function splitLine(line: string): readonly string[] {
  const end = line.search(/: (?:recall|false alarms) /);
  return [line.slice(0, end), line.slice(end + 2)];
}

/** Returns the counts in the format of `score.mjs` for a group. */
function formatCounts([positives, found, negatives, alarms]: Counts): string {
  return [
    ...(positives > 0 ? [`recall ${computeShare(found, positives)} of ${positives}`] : []),
    ...(negatives > 0 ? [`false alarms ${computeShare(alarms, negatives)} of ${negatives}`] : []),
  ].join(', ');
}

function computeShare(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}
