import type { PolicyRecord, SkillPlan } from '../../../runtime/skills/index.ts';
import { counted } from '../table.ts';
import { paint, remark, say, shown, type Terminal } from '../terminal.ts';

/** Prints the files that would change, and the effect on the policy. */
export function tellPlan(plan: SkillPlan, terminal: Terminal): void {
  if (plan.mended) remark(terminal, 'An interrupted change was completed first.');
  const { changes, kept, unchanged } = plan.files;
  say(terminal, paint(terminal, 'bold', 'Files'));
  for (const { action, path } of changes) say(terminal, `  ${action.padEnd(8)} ${shown(path)}`);
  for (const path of kept) say(terminal, `  keep     ${shown(path)} (edited since the installation)`);
  if (changes.length === 0 && kept.length === 0) say(terminal, '  none');
  if (unchanged.length > 0) say(terminal, `  ${counted(unchanged.length, 'other')} as they are`);
  tellPlugins(plan, terminal);
  tellEffect(plan, terminal);
  for (const { message } of plan.warnings) remark(terminal, `warning: ${shown(message)}`);
  const failed = plan.cases.filter(({ differences }) => differences.length > 0);
  if (plan.cases.length === 0) return;
  say(
    terminal,
    `  ${plan.cases.length - failed.length} of its ${counted(plan.cases.length, 'case')} hold here`,
  );
  for (const { name, differences } of failed) {
    remark(terminal, `warning: not as its case says: ${shown(name)}`);
    for (const { field, expected, found } of differences)
      remark(terminal, `         ${field}: ${shown(expected)} expected, ${shown(found)} found`);
  }
}

const PLUGS = [
  ['detectors', 'detector'],
  ['templates', 'template'],
  ['drivers', 'driver'],
  ['dialects', 'dialect'],
  ['adapters', 'adapter'],
] as const;

function tellPlugins({ plugins }: SkillPlan, terminal: Terminal): void {
  if (plugins.length === 0) return;
  say(terminal, paint(terminal, 'bold', 'Code that will run in the service'));
  for (const { name, version, from, sha256, ...brought } of plugins) {
    say(terminal, `  ${shown(from)}: ${shown(name)} ${version}, SHA-256 ${sha256}`);
    for (const [kind, word] of PLUGS)
      for (const each of brought[kind]) say(terminal, `    ${word} ${shown(each)}`);
  }
}

function tellEffect({ effect }: SkillPlan, terminal: Terminal): void {
  if (effect === null) return;
  say(terminal, paint(terminal, 'bold', 'Effect'));
  const { added, changed, removed, tags, consequences, strictness } = effect;
  for (const record of added) say(terminal, `  + ${recordLine(record)}`);
  for (const record of changed) say(terminal, `  ~ ${recordLine(record)}`);
  for (const record of removed) say(terminal, `  - ${recordLine(record)}`);
  if (tags.length > 0) say(terminal, `  tags: ${shown(tags.join(', '))}`);
  for (const line of consequences) say(terminal, `  ${line}`);
  if (added.length + changed.length + removed.length === 0) say(terminal, '  none on the policy');
  else if (strictness.stricter > 0)
    say(terminal, `  stricter in ${share(strictness.stricter, strictness.compared)}`);
  if (strictness.opened_tags.length > 0)
    say(terminal, `  no longer left to the default action: ${shown(strictness.opened_tags.join(', '))}`);
  for (const line of laxerLines(effect)) say(terminal, paint(terminal, 'yellow', `  ${line}`));
  if (!strictness.complete) say(terminal, '  there are too many rules to compare every place');
}

/** Lists each way in which the policy would become less strict; empty if it would not. */
export function laxerLines({ strictness }: NonNullable<SkillPlan['effect']>): readonly string[] {
  const { laxer, compared, examples, loosening } = strictness;
  return [
    ...(laxer > 0 ? [`laxer in ${share(laxer, compared)}:`] : []),
    ...examples.map(({ where, before, after }) => `  ${shown(where)}: ${before} -> ${after}`),
    ...loosening.map((line) => `laxer: ${shown(line)}`),
  ];
}

function share(count: number, compared: number): string {
  return `${count.toLocaleString('en')} of ${compared.toLocaleString('en')} places compared`;
}

function recordLine({ kind, name, says }: PolicyRecord): string {
  return `${kind} ${shown(name)}: ${shown(says)}`;
}
