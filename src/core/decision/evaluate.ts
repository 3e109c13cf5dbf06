import type { Conditions } from '../policy/conditions/facts.ts';
import { normalTag } from '../tags.ts';
import type { Action, Boundary, Monitored, Phase, Policy, Tag } from '../types/index.ts';
import { circumstancesOf, placeOf, ruleForCrossing, ruleForTag, stricter, tableOf } from './rules.ts';

/** What is asked about. Without a phase an action is a request; without tool or agent, rules on them stay silent. */
export interface EvaluationContext {
  readonly boundary: Boundary;
  readonly phase?: Phase | null;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly tool?: string | null;
  readonly agent_id?: string | null;
  /** What the session has read; rules about sessions stay silent without. */
  readonly session_tags?: readonly Tag[];
}

/**
 * What a policy makes of tags: in go a boundary, tags and a tenant, out comes one action, the strictest over
 * all tags and over the rules about the crossing itself. Where nothing speaks, and for each tag that no rule
 * names, it is the policy's default action.
 */
export function evaluate(
  policy: Policy,
  context: EvaluationContext,
  conditions: Conditions | null = null,
): Action {
  const { boundary, phase = null, tenant_id, tool = null, agent_id } = context;
  const table = tableOf(policy, placeOf(boundary, phase), tenant_id);
  const data_tags = context.data_tags.map(normalTag);
  const session_tags = (context.session_tags ?? []).map(normalTag);
  const crossing = {
    ...NOTHING,
    boundary,
    phase,
    tenant_id,
    tool,
    agent_id: agent_id ?? UNNAMED,
    session_tags,
  };
  const circumstances = circumstancesOf(crossing, { data_tags: () => data_tags, findings: 0, conditions });
  const monitored: Monitored[] = [];
  let action = ruleForCrossing(table, circumstances, monitored)?.action ?? null;
  for (const tag of data_tags) {
    const tagged = { tag, severity: null };
    const spoken = ruleForTag(table, tagged, circumstances, monitored)?.action ?? policy.default_action;
    if (action === null || stricter(spoken, action)) action = spoken;
  }
  return action ?? policy.default_action;
}

/** What a context does not say. */
const NOTHING = {
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  declared_tags: [],
  now_ms: 0,
} as const;

/** No agent at all. Only a pattern that means every agent fits it. */
const UNNAMED = '';
