import { covers } from '../../tags.ts';
import type { JudgedFinding, Verdict } from '../../types/index.ts';
import { SEVERITIES } from '../../types/index.ts';
import { commandRules } from './rules/index.ts';
import type { CommandRule } from './rules/rule.ts';

const rules = new Map(commandRules.map((rule) => [rule.id, rule]));

/**
 * Returns why a command was stopped or held, for the reader of the denial: the effect, the ID of its rule, a
 * safer command, and the command that allows it. `null` if no dangerous command decided.
 */
export function explainCommand({ action, decision, findings }: Verdict): string | null {
  if (decision !== 'block') return null;
  const decisive = findings.filter((each) => each.action === action && rules.has(each.rule_id));
  const worst = decisive.reduce<JudgedFinding | null>(
    (before, each) => (before === null || rankSeverity(each) > rankSeverity(before) ? each : before),
    null,
  );
  if (worst === null) return null;
  const rule = rules.get(worst.rule_id)!;
  const { id, tag } = rule;
  const why = describeRule(rule);
  // The service's guard stays on.
  if (covers('dangerous.guard', tag)) return why;
  return `${why} An operator can allow it with \`customshouse allow ${id}\`.`;
}

/** Returns one sentence for each command rule among detectors: what its command does, the ID, and a safer command. */
export function describeEffects(rule_ids: Iterable<string>): string[] {
  return [...new Set(rule_ids)].flatMap((id) => {
    const rule = rules.get(id);
    return rule === undefined ? [] : [describeRule(rule)];
  });
}

function describeRule({ id, description, safer }: CommandRule): string {
  const effect = `${description[0]!.toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
  return `The command ${effect} (\`${id}\`). Instead, for example: \`${safer}\`.`;
}

function rankSeverity({ severity }: JudgedFinding): number {
  return SEVERITIES.indexOf(severity);
}
