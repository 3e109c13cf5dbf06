import { placeOf, ruleForCrossing, ruleForTag, stricter, tableOf } from './rules.ts';
import { normalTag } from './tags.ts';
import type { Action, Boundary, Monitored, Phase, Policy, Tag } from './types.ts';

/** What is asked about. Without a phase an action is a request; without tool or agent, rules on them stay silent. */
export interface EvaluationContext {
  readonly boundary: Boundary;
  readonly phase?: Phase | null;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly tool?: string | null;
  readonly agent_id?: string | null;
}

/**
 * What a policy makes of tags: in go a boundary, tags and a tenant, out comes one action, the strictest over
 * all tags and over the rules about the crossing itself. Where nothing speaks, and for each tag that no rule
 * names, it is the policy's default action.
 */
export function evaluate(policy: Policy, context: EvaluationContext): Action {
  const { boundary, phase, tenant_id, tool = null, agent_id } = context;
  const table = tableOf(policy, placeOf(boundary, phase), tenant_id);
  const circumstances = { tool, agents: [agent_id ?? UNNAMED] };
  const monitored: Monitored[] = [];
  let action = ruleForCrossing(table, circumstances, monitored)?.action ?? null;
  for (const declared of context.data_tags) {
    const tagged = { tag: normalTag(declared), severity: null };
    const spoken = ruleForTag(table, tagged, circumstances, monitored)?.action ?? policy.default_action;
    if (action === null || stricter(spoken, action)) action = spoken;
  }
  return action ?? policy.default_action;
}

/** No agent at all. Only a pattern that means every agent fits it. */
const UNNAMED = '';
