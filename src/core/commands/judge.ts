import { readCommands } from '../shell/read.ts';
import type { Command } from '../shell/syntax.ts';
import { SEVERITIES } from '../types.ts';
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

/**
 * Judges a text as a script: what it would run, not what it prints. Of several rules about one span the worst
 * comes first, and each rule speaks once about a span. `offset` is where the text begins in the one around it.
 * `is_cut` says that the script is over a limit of `SHELL_LIMITS`, so that a part of it was not looked at.
 */
export function judgeScript(text: string, offset = 0): { matches: readonly CommandMatch[]; is_cut: boolean } {
  const { commands, is_cut } = readCommands(text, offset);
  const matches: CommandMatch[] = [];
  const seen = new Set<string>();
  for (const command of commands) {
    for (const rule of rulesFor(command)) {
      const key = `${rule.id} ${command.start} ${command.end}`;
      if (seen.has(key) || !rule.saw(command)) continue;
      seen.add(key);
      matches.push({ rule, start: command.start, end: command.end });
    }
  }
  matches.sort((a, b) => a.start - b.start || rank(b) - rank(a) || b.end - a.end);
  return { matches, is_cut };
}

function rulesFor({ name }: Command): readonly CommandRule[] {
  const plain = name.replace(/\.(?:sh|py|ps1)$|(?<=python)[\d.]+$/, '');
  const own = by_program.get(name === '' ? 'read' : name) ?? by_program.get(plain);
  return own === undefined ? for_all : [...own, ...for_all];
}

function rank({ rule }: CommandMatch): number {
  return SEVERITIES.indexOf(rule.severity);
}
