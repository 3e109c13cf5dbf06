import { memoize } from '../../memoize.ts';
import { SEVERITIES } from '../../types/index.ts';
import { DEFAULT_GUARD_VIEW, type GuardView } from '../guard/paths.ts';
import { scriptViews } from '../guard/script-views.ts';
import { printedBy } from '../shell/output.ts';
import { dialectsOf, readCommands, readingWork } from '../shell/read.ts';
import { type Command, type Redirection, SHELL_LIMITS, type Word } from '../shell/syntax.ts';
import { afford, spent, WORK_LIMITS, workFor } from '../shell/work.ts';
import { commandRules } from './rules/index.ts';
import type { CommandRule } from './rules/rule.ts';

/** Where a rule saw a command: UTF-16 offsets, end exclusive. */
export interface CommandMatch {
  readonly rule: CommandRule;
  readonly start: number;
  readonly end: number;
}

const by_program = new Map<string, CommandRule[]>();
const for_all: CommandRule[] = [];
for (const rule of commandRules) {
  if (rule.programs === '*') for_all.push(rule);
  else
    for (const name of new Set(rule.programs.split(' ')))
      by_program.set(name, [...(by_program.get(name) ?? []), rule]);
}

/** Programs that some rule is about. */
export const judgedPrograms: ReadonlySet<string> = new Set(by_program.keys());

export interface JudgedScript {
  readonly matches: readonly CommandMatch[];
  readonly is_cut: boolean;
  /** Units of work that it took (see shell/work.ts). */
  readonly work: number;
}

/**
 * Judges a text as a script: what it would run, not what it prints. Of several rules about one span the worst
 * comes first, and each rule speaks once about a span. `offset` is where the text begins in the one around it.
 * `is_cut` says that the script is over a limit (`SHELL_LIMITS`, `WORK_LIMITS`), so that a part of it was not
 * looked at.
 */
export function judgeScript(text: string, offset = 0, guard: GuardView = DEFAULT_GUARD_VIEW): JudgedScript {
  const reading = readingWork(text);
  const readings = dialectsOf(text).map((dialect) => readCommands(text, { offset, dialect, work: reading }));
  const commands = readings.flatMap((each) => each.commands);
  const is_cut = readings.some((each) => each.is_cut);
  const work = workFor(Math.min(text.length, SHELL_LIMITS.script_units_max), WORK_LIMITS.judging_per_unit);
  const matches: CommandMatch[] = [];
  const seen = new Set<string>();
  const viewsOf = scriptViews(commands, text, guard);
  for (const command of commands) {
    if (!afford(work, COMMAND_WORK + UNIT_WORK * unitsOf(command))) break;
    const views = viewsOf(command);
    for (const rule of rulesFor(command)) {
      if (!views.some((view) => rule.saw(command, view))) continue;
      // The two dialects may read one command to different ends.
      const key = `${rule.id} ${command.start}`;
      if (seen.has(key)) continue;
      seen.add(key);
      matches.push({ rule, start: command.start, end: command.end });
    }
  }
  matches.sort((a, b) => a.start - b.start || rank(b) - rank(a) || b.end - a.end);
  return { matches, is_cut: is_cut || work.left < 0, work: spent(reading) + spent(work) };
}

/** What looking at a command costs: the rules for all commands by their number, and each of its units. */
const COMMAND_WORK = 100;
const UNIT_WORK = 4;

/** UTF-16 units of all that rules look at. Commands in one another share words, redirections and input. */
function unitsOf({ words, redirections, assignments, code, previous }: Command): number {
  const pairs = assignments.reduce((sum, { name, value }) => sum + name.length + value.length + 1, 0);
  const other = (code?.length ?? 0) + (printedBy(previous)?.length ?? 0);
  return unitsOfWords(words) + unitsOfTargets(redirections) + pairs + other;
}

const unitsOfWords = memoize((words: readonly Word[]): number =>
  words.reduce((sum, { text }) => sum + text.length + 1, 0),
);
const unitsOfTargets = memoize((redirections: readonly Redirection[]): number =>
  redirections.reduce((sum, { target }) => sum + target.length + 1, 0),
);

function rulesFor({ name }: Command): readonly CommandRule[] {
  const plain = name.replace(/\.(?:sh|py|ps1)$|(?<=python)[\d.]+$/, '');
  const own = by_program.get(name === '' ? 'read' : name) ?? by_program.get(plain);
  return own === undefined ? for_all : [...own, ...for_all];
}

function rank({ rule }: CommandMatch): number {
  return SEVERITIES.indexOf(rule.severity);
}
