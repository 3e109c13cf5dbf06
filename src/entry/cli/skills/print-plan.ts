import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  paintText,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { PolicyRecord, SkillPlan } from '../../../runtime/skills/index.ts';

/** Prints the files that would change, and the effect on the policy. */
export function printSkillPlan(plan: SkillPlan, terminal: Terminal): void {
  if (plan.recovered) printNotice(terminal, 'An interrupted change was completed first.');
  const { changes, kept, unchanged } = plan.files;
  printLine(terminal, paintText(terminal, 'bold', 'Files'));
  for (const { action, path } of changes)
    printLine(terminal, `  ${action.padEnd(8)} ${escapeControls(path)}`);
  for (const path of kept)
    printLine(terminal, `  keep     ${escapeControls(path)} (edited since the installation)`);
  if (changes.length === 0 && kept.length === 0) printLine(terminal, '  none');
  if (unchanged.length > 0) printLine(terminal, `  ${formatCount(unchanged.length, 'other')} as they are`);
  printPlugins(plan, terminal);
  printEffect(plan, terminal);
  for (const { message } of plan.warnings) printNotice(terminal, `warning: ${escapeControls(message)}`);
  const failed = plan.cases.filter(({ differences }) => differences.length > 0);
  if (plan.cases.length === 0) return;
  printLine(
    terminal,
    `  ${plan.cases.length - failed.length} of its ${formatCount(plan.cases.length, 'case')} hold here`,
  );
  for (const { name, differences } of failed) {
    printNotice(terminal, `warning: not as its case says: ${escapeControls(name)}`);
    for (const { field, expected, actual } of differences)
      printNotice(
        terminal,
        `         ${field}: ${escapeControls(expected)} expected, ${escapeControls(actual)} found`,
      );
  }
}

const PLUGS = [
  ['detectors', 'detector'],
  ['templates', 'template'],
  ['drivers', 'driver'],
  ['dialects', 'dialect'],
  ['adapters', 'adapter'],
] as const;

function printPlugins({ plugins }: SkillPlan, terminal: Terminal): void {
  if (plugins.length === 0) return;
  printLine(terminal, paintText(terminal, 'bold', 'Code that will run in the service'));
  for (const { name, version, from, sha256, ...brought } of plugins) {
    printLine(terminal, `  ${escapeControls(from)}: ${escapeControls(name)} ${version}, SHA-256 ${sha256}`);
    for (const [kind, word] of PLUGS)
      for (const each of brought[kind]) printLine(terminal, `    ${word} ${escapeControls(each)}`);
  }
}

function printEffect({ effect }: SkillPlan, terminal: Terminal): void {
  if (effect === null) return;
  printLine(terminal, paintText(terminal, 'bold', 'Effect'));
  const { added, changed, removed, tags, consequences, strictness } = effect;
  for (const record of added) printLine(terminal, `  + ${formatRecord(record)}`);
  for (const record of changed) printLine(terminal, `  ~ ${formatRecord(record)}`);
  for (const record of removed) printLine(terminal, `  - ${formatRecord(record)}`);
  if (tags.length > 0) printLine(terminal, `  tags: ${escapeControls(tags.join(', '))}`);
  for (const line of consequences) printLine(terminal, `  ${line}`);
  if (added.length + changed.length + removed.length === 0) printLine(terminal, '  none on the policy');
  else if (strictness.stricter > 0)
    printLine(terminal, `  stricter in ${formatShare(strictness.stricter, strictness.compared)}`);
  if (strictness.opened_tags.length > 0)
    printLine(
      terminal,
      `  no longer left to the default action: ${escapeControls(strictness.opened_tags.join(', '))}`,
    );
  for (const line of formatLessStrictPlaces(effect))
    printLine(terminal, paintText(terminal, 'yellow', `  ${line}`));
  if (!strictness.complete) printLine(terminal, '  there are too many rules to compare every place');
}

/** Lists each way in which the policy would become less strict; empty if it would not. */
export function formatLessStrictPlaces({ strictness }: NonNullable<SkillPlan['effect']>): readonly string[] {
  const { less_strict, compared, examples, loosening } = strictness;
  return [
    ...(less_strict > 0 ? [`less strict in ${formatShare(less_strict, compared)}:`] : []),
    ...examples.map(({ where, before, after }) => `  ${escapeControls(where)}: ${before} -> ${after}`),
    ...loosening.map((line) => `less strict: ${escapeControls(line)}`),
  ];
}

function formatShare(count: number, compared: number): string {
  return `${count.toLocaleString('en')} of ${compared.toLocaleString('en')} places compared`;
}

function formatRecord({ kind, name, summary }: PolicyRecord): string {
  return `${kind} ${escapeControls(name)}: ${escapeControls(summary)}`;
}
