import { formatTable } from '../../operations/cli-kit/format-table.ts';
import type { FigureGroup, Mistake, QualityReport } from './index.ts';

/**
 * Formats a measurement for people: the figures in total and by source, tier and type, and the IDs of false negatives
 * and false positives.
 * @param brief leaves out types and rows
 */
export function formatQuality(report: QualityReport, brief: boolean): string[] {
  const { sources, systems, tiers, types, spans, type_accuracy, partial } = report;
  const lines = formatTable(HEAD, [
    ...getRows('all', [{ ...report, name: report.category }]),
    ...getRows('all', [report.without_label_noise]),
    ...(spans === null ? [] : getRows('places', [spans])),
    ...getRows('source', sources),
    ...getRows('os', systems),
    ...getRows('tier', tiers),
    ...(brief ? [] : getRows('type', types)),
  ]);
  if (type_accuracy !== null)
    lines.push('', `The type is right in ${formatPercent(type_accuracy)} of the found places.`);
  if (partial > 0) lines.push('', `${partial} texts exceeded a limit and were scanned in part.`);
  if (brief) return lines;
  return [
    ...lines,
    ...formatMistakes('Missed', report.misses, report.positives - report.found),
    ...formatMistakes('False positives', report.false_alarms, report.alarms),
  ];
}

const HEAD = ['OF', 'NAME', 'RECALL', 'POSITIVES', 'FALSE POSITIVES', 'NEGATIVES', 'PRECISION', 'F1'];

function getRows(kind: string, groups: readonly FigureGroup[]): string[][] {
  return groups.map(({ name, positives, negatives, recall, false_alarm_rate, precision, f1 }) => {
    const isMixed = positives > 0 && negatives > 0;
    return [
      kind,
      name === '' ? '(none)' : name,
      formatPercent(recall),
      positives === 0 ? '' : String(positives),
      formatPercent(false_alarm_rate),
      negatives === 0 ? '' : String(negatives),
      isMixed ? formatPercent(precision) : '',
      isMixed ? formatPercent(f1) : '',
    ];
  });
}

function formatPercent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(2)} %`;
}

/** Formats one line per source and type, with the IDs of its rows. */
function formatMistakes(title: string, mistakes: readonly Mistake[], count: number): string[] {
  if (mistakes.length === 0) return [];
  const cellsOf = ({ source, type, rule_ids }: Mistake) => [
    source,
    type ?? '',
    rule_ids.length === 0 ? '' : `by ${rule_ids.join(', ')}`,
  ];
  const groups = Map.groupBy(mistakes, (mistake) => JSON.stringify(cellsOf(mistake)));
  const lines = [...groups.values()].map((rows) => [
    ...cellsOf(rows[0]!),
    rows.map(({ id }) => id).join(' '),
  ]);
  const cut = mistakes.length < count ? [`... and ${count - mistakes.length} more`] : [];
  return ['', `${title}: ${count}`, ...formatTable(['SOURCE', 'TYPE', 'BY', 'ROWS'], lines).slice(1), ...cut];
}
