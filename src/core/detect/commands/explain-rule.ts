import { covers } from '../../tags.ts';
import type { JudgedFinding, Verdict } from '../../types/index.ts';
import { SEVERITIES } from '../../types/index.ts';
import { commandRules } from './rules/index.ts';

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
  const { id, tag } = rules.get(worst.rule_id)!;
  const why = describeCommandRule(id);
  // The guard of the service itself stays on.
  if (covers('dangerous.guard', tag)) return why;
  return `${why} An operator can allow it with \`service allow ${id}\`.`;
}

/** Returns what a command of a rule does, the ID of the rule, and a safer command; `null` for IDs of other detectors. */
export function describeCommandRule(id: string): string | null {
  const rule = rules.get(id);
  if (rule === undefined) return null;
  const { description, safer } = rule;
  const effect = `${description[0]!.toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
  return `The command ${effect} (\`${id}\`). Instead, for example: \`${safer}\`.`;
}

function rankSeverity({ severity }: JudgedFinding): number {
  return SEVERITIES.indexOf(severity);
}
