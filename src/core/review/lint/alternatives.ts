import { judge } from '../../decision/judge.ts';
import { commandRules } from '../../detect/commands/rules/index.ts';
import type { ConditionEvaluator } from '../../policy/conditions/facts.ts';
import type { Crossing, Policy, Rule } from '../../types/index.ts';
import { formatNameList } from '../rule-trace.ts';
import type { LintRemark } from './remark.ts';

/**
 * Judges the texts and commands that a policy offers instead of refused ones, and returns remarks on those that it
 * would refuse too.
 */
export function findAlternativeRemarks(
  policy: Policy,
  conditions: ConditionEvaluator | null,
): readonly LintRemark[] {
  return [
    ...policy.rules.flatMap((rule) => findFallbackRemark(rule, policy, conditions)),
    ...findSaferRemarks(policy, conditions),
  ];
}

const NOWHERE: Omit<Crossing, 'boundary' | 'phase' | 'content' | 'tenant_id'> = {
  agent_id: 'unknown',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  tool: null,
  declared_tags: [],
  now_ms: 0,
};

/** Judges the fixed text of a template, without its placeholders. */
function findFallbackRemark(rule: Rule, policy: Policy, conditions: ConditionEvaluator | null): LintRemark[] {
  const { fallback_template, tenant_id, name } = rule;
  if (fallback_template === null || !rule.boundaries.includes('output')) return [];
  const text = fallback_template.replace(/\{[a-z_]{1,40}\}/g, '');
  const crossing: Crossing = {
    ...NOWHERE,
    boundary: 'output',
    phase: null,
    content: { kind: 'text', text },
    tenant_id: tenant_id ?? 'default',
  };
  // Rules about the crossing match regardless of the text, and this rule may be one of them.
  const byText = { ...policy, rules: policy.rules.filter(({ data_tags }) => data_tags.length > 0) };
  const verdict = judge(crossing, byText, null, conditions);
  if (verdict.decision === 'allow') return [];
  const done = verdict.decision === 'block' ? 'blocked' : 'masked';
  const message = `The \`fallback_template\` of the rule \`${name}\` would itself be ${done} by \`${verdict.rule}\`. Word it otherwise.`;
  return [{ id: 'fallback-forbidden', record: rule, part: 'fallback_template', message }];
}

/** Returns remarks on configured rules that block the suggested alternatives to dangerous commands. */
function findSaferRemarks(policy: Policy, conditions: ConditionEvaluator | null): LintRemark[] {
  // Contracts, identities and rules about the crossing do not depend on the effect of the command.
  const byCommand: Policy = {
    ...policy,
    rules: policy.rules.filter(({ data_tags }) => data_tags.length > 0),
    contracts: [],
    identities: [],
    undeclared_tools: 'allow',
    unknown_agents: 'allow',
  };
  if (byCommand.rules.length === 0) return [];
  const blocked = new Map<Rule, string[]>();
  for (const { safer } of commandRules) {
    const rule = getBlocker(safer, byCommand, conditions);
    if (rule !== null) blocked.set(rule, [...(blocked.get(rule) ?? []), safer]);
  }
  return [...blocked].map(([rule, commands]) => {
    const message = `The rule \`${rule.name}\` may block too what is offered instead of dangerous commands: ${formatNameList(commands)}.`;
    return { id: 'safer-forbidden', record: rule, part: '', message };
  });
}

function getBlocker(command: string, policy: Policy, conditions: ConditionEvaluator | null): Rule | null {
  const crossing: Crossing = {
    ...NOWHERE,
    boundary: 'action',
    phase: 'request',
    content: { kind: 'json', value: { command } },
    tenant_id: 'default',
  };
  const { action, rule } = judge(crossing, policy, null, conditions);
  if (action !== 'block') return null;
  return policy.rules.find(({ name, tenant_id }) => name === rule && tenant_id === null) ?? null;
}
