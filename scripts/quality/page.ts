/** Renders the page of detection figures from a measurement. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Category, FigureGroup, Mistake } from '../../src/features/quality/index.ts';
import type { FreshFigures } from './fresh.ts';
import { renderGoals } from './goals.ts';
import type { QualityMeasurement } from './measure.ts';

const FILE = join(import.meta.dirname, '../../docs/reference/detection-figures.md');

const TITLES: Readonly<Record<Category, string>> = {
  secrets: 'Secrets',
  pii: 'Personal data',
  injection: 'Prompt injection',
  commands: 'Commands',
};

/** Writes docs/reference/detection-figures.md, without the goals if there are no fresh rows. */
export function writePage(measured: readonly QualityMeasurement[], fresh: FreshFigures | null): void {
  const corpora = measured.filter(({ set }) => set === 'corpora');
  const rows = measured.filter(({ set }) => set === 'own');
  const text = `<!-- Written by \`npm run quality -- --write\`. -->
# Detection figures

This reference is for engineers who judge detection. It shows how well the service finds what it looks for, without any configuration, measured at commit
\`${readCommit()}\` or the one that added this page. [Detection](../explanation/detection.md#how-well-it-finds) explains the figures and the misses.

- **Recall**: of the texts with something to find, the share in which a finding overlaps a labelled place (injections and commands: any finding).
- **False positives**: of the benign texts, the share with any finding.

**Without label noise** leaves out positive rows whose every labelled value is a placeholder (more than 55 % of its neighbouring characters repeat or continue a
sequence, whatever their case), a value that occurs in the text again without a label, a public identifier by the name of its type (\`-id\`, \`-host\`, \`-url\`,
\`-name\`), a domain or an address that an RFC reserves, a number of one digit or one sequence, an account number in the form of no country, a web address, or a
text of nothing but up to twelve digits. It leaves out benign rows of secrets that hold a placeholder of ten characters or more, because other rows label
such strings as secrets. The rule reads texts, values and types, never findings (\`src/features/quality/label-noise.ts\`). Injections and commands have no such
rule.

The corpora are public test data of other projects and generated rows (${'`'}../shared/corpora${'`'}, not part of the repository). The rows are the **development half:
its misses were read while detectors were written**, so these figures are optimistic. Rows are named by their ids in the corpora.
${renderGoalSection(corpora, fresh)}
## Comparison with other tools

All tools ran on the same rows and were counted by the same program. The figures of the other tools are those of the corpora's README.

${renderComparison(corpora)}

${corpora.map(renderSection).join('\n')}
## The rows of the repository

Hand-written rows, part of the repository. \`npm test\` compares them with the baseline.

${getTable(rows.map(({ category, report }) => ({ ...report, name: TITLES[category] })))}
`;
  writeFileSync(FILE, text);
}

function renderGoalSection(corpora: readonly QualityMeasurement[], fresh: FreshFigures | null): string {
  if (fresh === null) return '';
  return `
## Goals

All shares leave label noise out; injections and commands have no rule for it. The fresh rows were collected after the detectors of the corpora were written, and their misses were read too.

${renderGoals(corpora, fresh)}`;
}

/**
 * Recall, share of false positives and F1 of other tools on the development half, from the README of the
 * corpora.
 */
const OTHERS: Readonly<
  Record<Category, readonly (readonly [tool: string, recall: string, alarms: string, f1: string])[]>
> = {
  secrets: [
    ['gitleaks rules and allow-lists, without its decoding', '66.8 %', '0.9 %', '79.7 %'],
    ['kingfisher rules with entropy', '47.2 %', '1.3 %', '63.5 %'],
    ['detect-secrets 1.5', '23.5 %', '9.0 %', '35.4 %'],
    ['secretlint 13, recommended', '5.7 %', '1.1 %', '10.7 %'],
  ],
  pii: [
    ['Presidio, 73 pattern recognisers, score 0.4', '58.5 %', '5.6 %', '71.4 %'],
    ['the same plus phone numbers of 8 regions', '83.8 %', '18.8 %', '83.2 %'],
  ],
  injection: [
    ['xaidr 1.4.1, blocked or flagged', '31.9 %', '15.5 %', '42.1 %'],
    ['xaidr 1.4.1, blocked', '23.3 %', '4.5 %', '36.1 %'],
    ['AGT, strict', '14.2 %', '1.9 %', '24.3 %'],
  ],
  commands: [
    ['cc-safety-net 2.4.5', '14.9 %', '1.0 %', '25.7 %'],
    ['xaidr 1.4.1, blocked', '11.3 %', '2.5 %', '19.9 %'],
  ],
};

function renderComparison(corpora: readonly QualityMeasurement[]): string {
  const rows = corpora.flatMap(({ category, report }) => [
    [`**${TITLES[category]}**`, '**this service**', ...formatShares(report)],
    ...OTHERS[category].map((row) => ['', ...row]),
  ]);
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return ['| | | Recall | False positives | F1 |', '|---|---|---|---|---|', ...lines].join('\n');
}

function formatShares({ recall, false_alarm_rate, f1 }: FigureGroup): readonly string[] {
  return [recall, false_alarm_rate, f1].map((share) => `**${formatPercent(share)}**`);
}

function readCommit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  }).trim();
}

function renderSection({ category, report }: QualityMeasurement): string {
  const accuracy =
    report.type_accuracy === null
      ? ''
      : `The rule is of the right type in ${formatPercent(report.type_accuracy)} of the places found ([type names](type-names.md)).\n\n`;
  return `## ${TITLES[category]}

${getTable([
  { ...report, name: '**all**' },
  { ...report.without_label_noise, name: '**without label noise**' },
  ...report.tiers.map(createGroupNamer('tier')),
  ...report.systems.map(createGroupNamer('system')),
  ...report.sources.map(createGroupNamer('source')),
])}

${accuracy}${renderMistakes('Missed', report.misses)}
${renderMistakes('False positives', report.false_alarms)}`;
}

function createGroupNamer(kind: string): (group: FigureGroup) => FigureGroup {
  return (group) => ({ ...group, name: `${kind} ${group.name === '' ? '(none)' : group.name}` });
}

function getTable(groups: readonly FigureGroup[]): string {
  const rows = groups.map(({ name, recall, positives, false_alarm_rate, negatives, precision, f1 }) => {
    const isMixed = positives > 0 && negatives > 0;
    const cells = [
      name,
      positives > 0 ? `${formatPercent(recall)} of ${positives}` : '',
      negatives > 0 ? `${formatPercent(false_alarm_rate)} of ${negatives}` : '',
      isMixed ? formatPercent(precision) : '',
      isMixed ? formatPercent(f1) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| | Recall | False positives | Precision | F1 |', '|---|---|---|---|---|', ...rows].join('\n');
}

function formatPercent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(1)} %`;
}

/** Renders the figures by source and type in collapsed sections, because they are long. */
function renderMistakes(title: string, mistakes: readonly Mistake[]): string {
  if (mistakes.length === 0) return `${title}: none.\n`;
  const groups = Map.groupBy(
    mistakes,
    ({ source, type, rule_ids }) =>
      `${source}${type === null ? '' : `, ${type}`}${rule_ids.length === 0 ? '' : ` (by ${rule_ids.join(', ')})`}`,
  );
  const lines = [...groups].map(([name, rows]) => `- ${name}: ${getIds(rows)}`);
  return `<details><summary>${title}: ${mistakes.length}</summary>\n\n${lines.join('\n')}\n\n</details>\n`;
}

/** Returns the ids without the name of their source, which the line states once. */
function getIds(rows: readonly Mistake[]): string {
  return rows
    .map(({ id, source }) => (id.startsWith(`${source}-`) ? id.slice(source.length + 1) : id))
    .join(' ');
}
