/** The page of figures, made from a measurement. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Group, Mistake } from '../../src/runtime/quality/index.ts';
import type { Measured } from './measure.ts';

const FILE = join(import.meta.dirname, '../../docs/detection-figures.md');

const TITLES = {
  secrets: 'Secrets',
  pii: 'Personal data',
  injection: 'Prompt injection',
  commands: 'Commands',
} as const;

/** Writes docs/detection-figures.md. */
export function writePage(measured: readonly Measured[]): void {
  const corpora = measured.filter(({ set }) => set === 'corpora');
  const rows = measured.filter(({ set }) => set === 'own');
  const text = `<!-- Written by \`npm run quality -- --write\`. -->
# Figures of detection

How well the service finds what it looks for, without any configuration, measured at commit \`${commit()}\` or the one that
brought this page. What the figures mean, and what is behind the misses, is in [detection.md](detection.md).

- **Recall**: of the texts with something to find, those in which a finding lies on a labelled place (injections and
  commands: those with any finding).
- **False alarms**: of the benign texts, those with any finding.

The corpora are public test data of other projects and generated rows (${'`'}../shared/corpora${'`'}, not part of the
repository). This is their **development half: its misses were read while detectors were written**, so that these
figures are optimistic. Rows are named by their ids there.

${corpora.map(section).join('\n')}
## The rows of the repository

Written by hand for every checkout to measure; \`npm test\` compares them with the baseline.

${tableOf(rows.map(({ category, report }) => ({ ...report, name: TITLES[category] })))}
`;
  writeFileSync(FILE, text);
}

function commit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  }).trim();
}

function section({ category, report }: Measured): string {
  const accuracy =
    report.type_accuracy === null
      ? ''
      : `The rule is of the right type in ${percent(report.type_accuracy)} of the places found ([type names](type-names.md)).\n\n`;
  return `## ${TITLES[category]}

${tableOf([{ ...report, name: '**all**' }, ...report.tiers.map(named('tier')), ...report.sources.map(named('source'))])}

${accuracy}${lists('Missed', report.misses)}
${lists('False alarms', report.false_alarms)}`;
}

function named(kind: string): (group: Group) => Group {
  return (group) => ({ ...group, name: `${kind} ${group.name === '' ? '(none)' : group.name}` });
}

function tableOf(groups: readonly Group[]): string {
  const rows = groups.map(({ name, recall, positives, false_alarm_rate, negatives, precision, f1 }) => {
    const is_mixed = positives > 0 && negatives > 0;
    const cells = [
      name,
      positives > 0 ? `${percent(recall)} of ${positives}` : '',
      negatives > 0 ? `${percent(false_alarm_rate)} of ${negatives}` : '',
      is_mixed ? percent(precision) : '',
      is_mixed ? percent(f1) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| | Recall | False alarms | Precision | F1 |', '|---|---|---|---|---|', ...rows].join('\n');
}

function percent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}

/** By source and type, folded away: they are long. */
function lists(title: string, mistakes: readonly Mistake[]): string {
  if (mistakes.length === 0) return `${title}: none.\n`;
  const groups = Map.groupBy(
    mistakes,
    ({ source, type, rule_ids }) =>
      `${source}${type === null ? '' : `, ${type}`}${rule_ids.length === 0 ? '' : ` (by ${rule_ids.join(', ')})`}`,
  );
  const lines = [...groups].map(([name, rows]) => `- ${name}: ${idsOf(rows)}`);
  return `<details><summary>${title}: ${mistakes.length}</summary>\n\n${lines.join('\n')}\n\n</details>\n`;
}

/** Ids of one source share their beginning, which is said once. */
function idsOf(rows: readonly Mistake[]): string {
  return rows
    .map(({ id, source }) => (id.startsWith(`${source}-`) ? id.slice(source.length + 1) : id))
    .join(' ');
}
