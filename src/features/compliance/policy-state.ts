import { judge } from '../../core/decision/judge.ts';
import { commandRules } from '../../core/detect/commands/rules/index.ts';
import type { DetectorIdentity } from '../../core/detect/matching/detector.ts';
import { listBuiltinIdentities } from '../../core/detect/registry/builtin-detectors.ts';
import { buildRuleIdentity, resolveDetectorSettings } from '../../core/detect/registry/detector-settings.ts';
import type { ConditionEvaluator } from '../../core/policy/conditions/facts.ts';
import { covers, isFactTag } from '../../core/tags.ts';
import type { Action, Crossing, Policy, Rule, Tag } from '../../core/types/index.ts';
import { coversName } from '../../runtime/access/scope.ts';
import {
  buildTextCrossing,
  buildToolCrossing,
  buildUnknownActor,
  NO_TEXT,
} from '../../runtime/enforcement/crossings.ts';
import type { Place } from './mapping-types.ts';

/** The effect of a policy on tagged data at one place, for a tenant and an agent that no rule names. */
export interface TagState {
  /** `off`: no detector finds it. `monitor`: only a rule in monitor mode would act. */
  readonly state: 'enforced' | 'recorded' | 'monitored' | 'allowed' | 'off';
  readonly action: Action;
  /** The rule that decides. */
  readonly rule: string;
  /** The tenant whose own rule it is; `null` for a rule of all tenants. */
  readonly rule_tenant_id: string | null;
}

/** A policy as reports evaluate it. */
export interface PolicyView {
  readonly policy: Policy;
  /** Finds what the policy does with a tag. */
  readonly evaluateTag: (tag: Tag, place: Place, tenantId: string) => TagState;
  /** The detectors of a tag that settings switch off, by id, and the number of all of them. */
  readonly listDisabledDetectors: (tag: Tag) => {
    readonly disabled: readonly string[];
    readonly total: number;
  };
  /** The rules of tenants in a scope, in the order of evaluation, the built-in ones last. */
  readonly listRules: (tenants: '*' | readonly string[]) => readonly Rule[];
}

/** A tool that no contract declares and no rule names. */
const NO_TOOL = 'compliance.report';

const IDENTITIES: readonly DetectorIdentity[] = [
  ...listBuiltinIdentities(),
  ...commandRules.map(buildRuleIdentity),
];

/**
 * Opens a policy for reports. Tags are evaluated by `judge` itself, so that the order of rules, conditions and monitor
 * mode count as they do in a decision. Contracts and identities are evaluated apart and are left out here.
 */
export function openPolicyView(policy: Policy, conditions: ConditionEvaluator | null): PolicyView {
  const rulesOnly: Policy = {
    ...policy,
    contracts: [],
    identities: [],
    undeclared_tools: 'allow',
    unknown_agents: 'allow',
  };
  const known = new Map<string, TagState>();
  return {
    policy,
    evaluateTag: (tag, place, tenantId) => {
      const key = `${tag} ${place} ${tenantId}`;
      const state = known.get(key) ?? evaluateTag(rulesOnly, conditions, tag, place, tenantId);
      known.set(key, state);
      return state;
    },
    listDisabledDetectors: (tag) => listDisabledDetectors(policy, tag),
    listRules: (tenants) =>
      [...policy.rules, ...policy.builtin_rules].filter(
        ({ tenant_id }) => tenant_id === null || coversName(tenants, tenant_id),
      ),
  };
}

function evaluateTag(
  policy: Policy,
  conditions: ConditionEvaluator | null,
  tag: Tag,
  place: Place,
  tenantId: string,
): TagState {
  const { action, rule, monitored } = judge(buildCrossing(tag, place, tenantId), policy, null, conditions);
  const describe = (decided: { readonly action: Action; readonly rule: string }) => ({
    ...decided,
    rule_tenant_id: isTenantRule(policy, decided.rule, tenantId) ? tenantId : null,
  });
  const decided = describe({ action, rule });
  if (!isFactTag(tag) && !hasDetector(policy, tag)) return { ...decided, state: 'off' };
  if (isActing(action)) return { ...decided, state: 'enforced' };
  const would = monitored.find((each) => isActing(each.action));
  if (would !== undefined)
    return { ...describe({ action: would.action, rule: would.rule }), state: 'monitored' };
  return { ...decided, state: action === 'flag' ? 'recorded' : 'allowed' };
}

function isTenantRule({ rules }: Policy, name: string, tenantId: string): boolean {
  return rules.some((rule) => rule.name === name && rule.tenant_id === tenantId);
}

function isActing(action: Action): boolean {
  return action === 'redact' || action === 'require_approval' || action === 'block';
}

function buildCrossing(tag: Tag, place: Place, tenantId: string): Crossing {
  const acting = { ...buildUnknownActor(0), tenant_id: tenantId, declared_tags: [tag] };
  switch (place) {
    case 'input':
    case 'output':
      return buildTextCrossing(place, acting, NO_TEXT);
    case 'call':
      return buildToolCrossing(acting, { phase: 'request', tool: NO_TOOL, content: NO_TEXT });
    case 'result':
      return buildToolCrossing(acting, { phase: 'response', tool: NO_TOOL, content: NO_TEXT });
  }
}

function listIdentities({ detection }: Policy, tag: Tag): readonly DetectorIdentity[] {
  return [...IDENTITIES, ...detection.patterns].filter(({ tags }) =>
    tags.some((each) => covers(tag, each) || covers(each, tag)),
  );
}

function hasDetector(policy: Policy, tag: Tag): boolean {
  return listIdentities(policy, tag).some(
    (identity) => resolveDetectorSettings(policy.detection, identity).is_enabled,
  );
}

function listDisabledDetectors(policy: Policy, tag: Tag) {
  const all = listIdentities(policy, tag);
  const disabled = all
    .filter((identity) => !resolveDetectorSettings(policy.detection, identity).is_enabled)
    .map(({ id }) => id)
    .toSorted();
  return { disabled, total: all.length };
}
