import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { normalizeTag } from '../tags.ts';
import type { Action, Boundary, MonitoredRule, Phase, Policy, Tag } from '../types/index.ts';
import { findContract, isUndeclared } from './find-contract.ts';
import {
  buildRuleContext,
  findRuleForCrossing,
  findRuleForTag,
  getEnforcementPoint,
  getRuleTable,
  isStricter,
} from './rules.ts';

/**
 * Input of `evaluate`. An action without a phase is a request. Without a tool or agent, rules that name one do not
 * match.
 */
export interface EvaluationContext {
  readonly boundary: Boundary;
  readonly phase?: Phase | null;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly tool?: string | null;
  readonly agent_id?: string | null;
  /** Taint tags of the session. Without them, rules on session tags do not match. */
  readonly session_tags?: readonly Tag[];
  /** The detector of the tags. Without it, rules for particular detectors do not match. */
  readonly rule_id?: string;
}

/**
 * Returns the action of a policy for a boundary, tags and a tenant: the strictest action over all tags and over the
 * rules about the crossing itself. If no rule matches, and for each tag that no rule names, the policy's default
 * action applies.
 */
export function evaluate(
  policy: Policy,
  context: EvaluationContext,
  conditions: ConditionEvaluator | null = null,
): Action {
  const { boundary, phase = null, tenant_id, tool = null, agent_id, rule_id } = context;
  const table = getRuleTable(policy, getEnforcementPoint(boundary, phase), tenant_id);
  const dataTags = context.data_tags.map(normalizeTag);
  const sessionTags = (context.session_tags ?? []).map(normalizeTag);
  const crossing = {
    ...DEFAULT_CONTEXT,
    boundary,
    phase,
    tenant_id,
    tool,
    agent_id: agent_id ?? UNNAMED_AGENT,
    session_tags: sessionTags,
  };
  const ruleContext = buildRuleContext(crossing, {
    data_tags: () => dataTags,
    findings_count: 0,
    is_undeclared: isUndeclared(crossing, findContract(crossing, policy)),
    conditions,
  });
  const monitored: MonitoredRule[] = [];
  let action = findRuleForCrossing(table, ruleContext, monitored)?.action ?? null;
  for (const tag of dataTags) {
    const occurrence = { tag, severity: null, ...(rule_id !== undefined && { rule_id }) };
    const tagAction =
      findRuleForTag(table, occurrence, ruleContext, monitored)?.action ?? policy.default_action;
    if (action === null || isStricter(tagAction, action)) action = tagAction;
  }
  return action ?? policy.default_action;
}

/** Values of the members that an `EvaluationContext` does not have. */
const DEFAULT_CONTEXT = {
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  declared_tags: [],
  now_ms: 0,
} as const;

/** Stands for a missing agent. Only a pattern that matches every agent matches it. */
const UNNAMED_AGENT = '';
