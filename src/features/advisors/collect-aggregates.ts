import type { AuditAggregates, NameTally, RuleUse } from '../../core/advisors/recommender.ts';
import { buildPromptVocabulary } from '../../core/advisors/vocabulary.ts';
import { DEAD_RULE_REMARKS } from '../../core/review/lint/remark.ts';
import type { Policy, Rule } from '../../core/types/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { coversName } from '../../runtime/access/scope.ts';
import { type CountField, type EventCount, SHORT_PERIOD_MS } from '../../runtime/audit/count-types.ts';
import { lintApart } from '../../runtime/policies/run-apart.ts';
import type { AdvisorPeriod, AdvisorScope } from './scope.ts';

/** Returns the totals of a period over all events that the caller may see, from the index of the audit log. */
export async function collectAggregates(
  { since, since_ms }: AdvisorPeriod,
  scope: AdvisorScope,
  runtime: Pick<Runtime, 'countEvents' | 'now_ms' | 'policy'>,
): Promise<AuditAggregates> {
  const policy = runtime.policy();
  const period = {
    since_ms: Math.floor(since_ms / SHORT_PERIOD_MS) * SHORT_PERIOD_MS,
    until_ms: runtime.now_ms() + 1,
  };
  const count = async (by: CountField) => sumByName(await runtime.countEvents({ by, ...period, ...scope }));
  const [byBoundary, byTag, byTool, byAgent, byRule, monitored] = await Promise.all([
    count('boundary'),
    count('tag'),
    count('tool'),
    count('agent'),
    count('rule'),
    count('monitored'),
  ]);
  return {
    since,
    total_events: byBoundary.reduce((sum, { events }) => sum + events, 0),
    by_boundary: byBoundary,
    by_tag: byTag,
    by_tool: byTool,
    by_agent: byAgent,
    rules: listRuleUses(policy, scope, byRule, monitored),
    dead_rules: await listDeadRules(policy, scope),
    default_action: policy.default_action,
    undeclared_tools: policy.undeclared_tools,
    unknown_agents: policy.unknown_agents,
    contracts: policy.contracts.length,
    identities: policy.identities.length,
    vocabulary: buildPromptVocabulary(policy),
  };
}

/** Returns the rules that the caller may see. Rules of other tenants are left out. */
export function listRuleUses(
  policy: Policy,
  scope: AdvisorScope,
  byRule: readonly NameTally[],
  monitored: readonly NameTally[],
): readonly RuleUse[] {
  const hits = new Map(byRule.map(({ name, events }) => [name, events]));
  const would = new Map(monitored.map(({ name, events }) => [name, events]));
  const describe = (rule: Rule, builtin: boolean): RuleUse => ({
    name: rule.name,
    builtin,
    boundaries: rule.boundaries,
    data_tags: rule.data_tags,
    tools: rule.tools,
    agents: rule.agents,
    action: rule.action,
    enforcement: rule.enforcement,
    priority: rule.priority,
    has_condition: rule.when !== null || rule.session_tags.length > 0,
    hits: hits.get(rule.name) ?? 0,
    monitored_hits: would.get(`${rule.name}:${rule.action}`) ?? 0,
  });
  return [
    ...policy.rules.filter((rule) => isVisible(rule, scope)).map((rule) => describe(rule, false)),
    ...policy.builtin_rules.map((rule) => describe(rule, true)),
  ];
}

function isVisible({ tenant_id }: Rule, { tenants }: AdvisorScope): boolean {
  return tenant_id === null || coversName(tenants, tenant_id);
}

async function listDeadRules(policy: Policy, scope: AdvisorScope): Promise<readonly string[]> {
  const remarks = await lintApart(policy);
  const dead = remarks.filter(({ id }) => DEAD_RULE_REMARKS.includes(id)).map(({ record }) => record as Rule);
  return [...new Set(dead.filter((rule) => isVisible(rule, scope)).map(({ name }) => name))];
}

/** Adds the counts of each name up, most frequent first. */
function sumByName(counts: readonly EventCount[]): readonly NameTally[] {
  const sums = new Map<string, { events: number; actions: Record<string, number> }>();
  for (const { value, action, count } of counts) {
    const sum = sums.get(value) ?? { events: 0, actions: {} };
    sum.events += count;
    sum.actions[action] = (sum.actions[action] ?? 0) + count;
    sums.set(value, sum);
  }
  return [...sums]
    .map(([name, sum]) => ({ name, ...sum }))
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1));
}
