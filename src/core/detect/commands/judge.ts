import { memoize } from '../../memoize.ts';
import { takeSteps } from '../../steps.ts';
import { SEVERITIES, type Severity } from '../../types/index.ts';
import { DEFAULT_GUARD_VIEW, type GuardView } from '../guard/paths.ts';
import { listScriptViews } from '../guard/script-views.ts';
import { computeOutput } from '../shell/output.ts';
import { getReadingWork, listDialects, readCommands } from '../shell/read.ts';
import { type Command, type Redirection, SHELL_LIMITS, type ShellWord } from '../shell/syntax.ts';
import { createWorkBudget, tryToSpend, WORK_LIMITS } from '../shell/work.ts';
import { followPowerShell, type PowerShellFlow } from './powershell-flow.ts';
import { commandRules } from './rules/index.ts';
import type { CommandRule } from './rules/rule.ts';

/** A match of a rule: UTF-16 offsets, end exclusive. */
export interface CommandMatch {
  readonly rule: CommandRule;
  readonly start: number;
  readonly end: number;
}

const byProgram = new Map<string, CommandRule[]>();
const forAll: CommandRule[] = [];
const byFlow = new Map<PowerShellFlow['effect'], CommandRule>();
for (const rule of commandRules) {
  if (rule.flow !== undefined) byFlow.set(rule.flow, rule);
  else if (rule.programs === '*') forAll.push(rule);
  else
    for (const name of new Set(rule.programs.split(' ')))
      byProgram.set(name, [...(byProgram.get(name) ?? []), rule]);
}

/** Programs that have a rule. */
export const JUDGED_PROGRAMS: ReadonlySet<string> = new Set(byProgram.keys());

/** The most UTF-16 units of a script that count for its work if it was not read to its end, so is refused anyway. */
const REFUSED_UNITS_MAX = 1000;

export interface JudgedScript {
  readonly matches: readonly CommandMatch[];
  readonly is_cut: boolean;
}

/**
 * Judges a text as a script: what it would run, not what it prints. The worst of several rules for one span comes
 * first, and each rule matches once per span. `offset` is the offset of the text in the text around it. `is_cut`
 * means that the script exceeds a limit (`SHELL_LIMITS`, `WORK_LIMITS`), so that a part was not read.
 */
export function judgeScript(text: string, offset = 0, guard: GuardView = DEFAULT_GUARD_VIEW): JudgedScript {
  let judged: JudgedScript = { matches: [], is_cut: true };
  takeSteps(Math.min(text.length, SHELL_LIMITS.script_units_max), () => {
    judged = judgeCommands(text, offset, guard);
  });
  return judged;
}

function judgeCommands(text: string, offset: number, guard: GuardView): JudgedScript {
  const reading = getReadingWork(text);
  const readings = listDialects(text).map((dialect) =>
    readCommands(text, { offset, dialect, work: reading, wrappers: guard.wrappers }),
  );
  const commands = readings.flatMap((each) => each.commands);
  const isCut = readings.some((each) => each.is_cut);
  const work = createWorkBudget(
    Math.min(text.length, isCut ? REFUSED_UNITS_MAX : SHELL_LIMITS.script_units_max),
    WORK_LIMITS.judging_per_unit,
  );
  const matches: CommandMatch[] = [];
  const seen = new Set<string>();
  const viewsOf = listScriptViews(commands, text, guard);
  for (const [at, command] of commands.entries()) {
    if (!tryToSpend(work, COMMAND_WORK + UNIT_WORK * countUnits(command))) break;
    const views = viewsOf(command);
    for (const rule of listRulesFor(command)) {
      if (!views.some((view) => rule.saw(command, view))) continue;
      // The two dialects can give one command different ends.
      const key = `${rule.id} ${command.start}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const severity = rule.grade?.(command, findNext(command, commands[at + 1])) ?? rule.severity;
      matches.push({ rule: withSeverity(rule, severity), start: command.start, end: command.end });
    }
  }
  if (readings.length > 1)
    for (const { effect, is_unnamed, start, end } of followPowerShell(text)) {
      const rule = byFlow.get(effect);
      if (rule === undefined) continue;
      const severity = is_unnamed ? 'critical' : rule.severity;
      matches.push({ rule: withSeverity(rule, severity), start: offset + start, end: offset + end });
    }
  matches.sort((a, b) => a.start - b.start || rankMatch(b) - rankMatch(a) || b.end - a.end);
  return { matches, is_cut: isCut || work.left < 0 };
}

const graded = new Map<string, CommandRule>();

/** Returns the command behind another one, if it is of the same script. The two dialects are read one after the other. */
function findNext(command: Command, next: Command | undefined): Command | undefined {
  return next !== undefined && next.depth >= command.depth && next.start >= command.start ? next : undefined;
}

/** Returns a rule with another severity; the object is cached. */
function withSeverity(rule: CommandRule, severity: Severity): CommandRule {
  if (severity === rule.severity) return rule;
  const key = `${rule.id} ${severity}`;
  const made = graded.get(key) ?? { ...rule, severity };
  graded.set(key, made);
  return made;
}

/** The work of judging a command: the rules for all commands, and each of its units. */
const COMMAND_WORK = 100;
const UNIT_WORK = 4;

/** Returns the UTF-16 units that rules read. Nested commands share words, redirections and input. */
function countUnits({ words, redirections, assignments, code, previous }: Command): number {
  const pairs = assignments.reduce((sum, { name, value }) => sum + name.length + value.length + 1, 0);
  const other = (code?.length ?? 0) + (computeOutput(previous)?.length ?? 0);
  return unitsOfWords(words) + unitsOfTargets(redirections) + pairs + other;
}

const unitsOfWords = memoize((words: readonly ShellWord[]): number =>
  words.reduce((sum, { text }) => sum + text.length + 1, 0),
);
const unitsOfTargets = memoize((redirections: readonly Redirection[]): number =>
  redirections.reduce((sum, { target }) => sum + target.length + 1, 0),
);

function listRulesFor({ name }: Command): readonly CommandRule[] {
  const plain = name.replace(/\.(?:sh|py|ps1|vbs|wsf)$|(?<=python)[\d.]+$/, '');
  const own = byProgram.get(name === '' ? 'read' : name) ?? byProgram.get(plain);
  return own === undefined ? forAll : [...own, ...forAll];
}

function rankMatch({ rule }: CommandMatch): number {
  return SEVERITIES.indexOf(rule.severity);
}
