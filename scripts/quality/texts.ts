/**
 * Lists the texts with wrong results, for work on detectors. They are printed on request and never stored.
 */
import { type CorpusRow, type QualityReport, readCorpus } from '../../src/features/quality/index.ts';
import type { RowSet } from './baseline.ts';
import { buildCorpusPath } from './measure.ts';
import { own } from './own/index.ts';

const SHOWN_UNITS = 300;

/** Returns a line for each row that was missed or is a false positive, with the beginning of its text. */
export async function listMistakeTexts(
  set: RowSet,
  folder: string,
  report: QualityReport,
): Promise<readonly string[]> {
  const { category, misses, false_alarms } = report;
  const wrong = new Map([
    ...misses.map((each) => [each.id, `missed ${each.type}`] as const),
    ...false_alarms.map((each) => [each.id, `alarm ${each.rule_ids.join(' ')}`] as const),
  ]);
  const path = buildCorpusPath(folder, category);
  const rows: AsyncIterable<CorpusRow> | Iterable<CorpusRow> =
    set === 'own' ? own[category] : readCorpus(path, path, category);
  const lines: string[] = [];
  for await (const { id, text, labels } of rows) {
    const said = wrong.get(id);
    if (said === undefined) continue;
    const from = Math.max(0, (labels[0]?.start ?? 0) - SHOWN_UNITS / 3);
    lines.push(`${said}  ${id}  ${JSON.stringify(text.slice(from, from + SHOWN_UNITS))}`);
  }
  return lines;
}
