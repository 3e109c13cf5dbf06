import { commandRules } from './rules/index.ts';
import type { CommandRule } from './rules/rule.ts';

const rules = new Map(commandRules.map((rule) => [rule.id, rule]));

/** Returns what a command does, with the ID of its rule and a safer command; `null` for the ID of another detector. */
export function describeCommandRule(ruleId: string): string | null {
  const rule = rules.get(ruleId);
  return rule === undefined ? null : describeRule(rule);
}

/** Returns one sentence for each command rule among detectors: what its command does, the ID, and a safer command. */
export function describeEffects(ruleIds: Iterable<string>): string[] {
  return [...new Set(ruleIds)].flatMap((id) => describeCommandRule(id) ?? []);
}

function describeRule({ id, description, safer }: CommandRule): string {
  const effect = `${description[0]!.toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
  return `The command ${effect} (\`${id}\`). Instead, for example: \`${safer}\`.`;
}
