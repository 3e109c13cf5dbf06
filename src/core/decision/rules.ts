import { memoize } from '../memoize.ts';
import { NoResult } from '../policy/conditions/arguments.ts';
import { buildConditionFacts, type ConditionEvaluator } from '../policy/conditions/facts.ts';
import { covers, isCoveredBy, isFactTag, matchesAny, matchesAnyCase } from '../tags.ts';
import {
  ACTIONS,
  type Action,
  type Boundary,
  type Content,
  type Crossing,
  type CrossingContext,
  type MonitoredRule,
  NO_PRINCIPAL,
  type Phase,
  type Policy,
  type Principal,
  type ProvedUser,
  type Rule,
  type RuleConditionResult,
  SEVERITIES,
  type Severity,
  type Tag,
  type TaintRule,
  type Violation,
} from '../types/index.ts';

/** Point at which rules are evaluated: a boundary, and at `action` the phase. */
export type EnforcementPoint = 'input' | 'output' | Phase;

/** Properties of a crossing that rules match on, except its tags. */
export interface RuleContext {
  readonly tool: string | null;
  /** Every agent that acts in the crossing; never empty. */
  readonly agents: readonly string[];
  readonly principal: Principal;
  /** Names of rules whose `require_approval` was approved. */
  readonly approved_rules?: readonly string[] | undefined;
  /** If set, rules in monitor mode are evaluated like enforced ones. */
  readonly enforces_monitored?: boolean;
  /** Taint tags of the session. */
  readonly session_tags: readonly Tag[];
  /**
   * Returns whether a rule's condition holds for a tag, or for the crossing itself if `null`. Throws if the condition
   * has no result. A tier that is only stated can only restrict: a condition that allows must hold with and without it,
   * and for any other condition either suffices.
   */
  readonly evaluateCondition: (
    rule: ConditionalRule,
    occurrence: TagOccurrence | null,
    isAllowing: boolean,
  ) => boolean;
  /** The condition results, for each evaluated rule whose condition reads arguments. */
  readonly condition_results: Map<ConditionalRule, ConditionResult>;
  /** Collects the matching rules that restrict by session tags. */
  readonly matched_flow_rules: Rule[];
  /** Collects the rules on people that would match, while no person is proved. */
  readonly rules_without_person: Rule[];
}

/**
 * Rules of one enforcement point for one tenant. In each list the first matching rule wins. If there are several
 * lists, the strictest of their winners decides.
 */
export interface RuleTable {
  readonly crossing_rules: readonly (readonly Rule[])[];
  readonly tag_rules: readonly (readonly Rule[])[];
  readonly builtin_rules: readonly Rule[];
  /**
   * Rules that restrict tags by the session's taint tags. Each is in a list of its own and shadows no other, so an
   * additional taint tag never makes a decision milder.
   */
  readonly flow_rules: readonly (readonly Rule[])[];
  /** Action for tags that no rule names. */
  readonly default_action: Action;
  readonly taint_rules: readonly TaintRule[];
}

/** A tag with the severity of its finding; the severity is `null` if the tag was only declared. */
export interface TagOccurrence {
  readonly tag: Tag;
  readonly severity: Severity | null;
  /** The detector of its finding; absent if the tag was only declared. */
  readonly rule_id?: string;
}

/** Returns the enforcement point of a crossing. An action without a phase is a request. */
export function getEnforcementPoint(boundary: Boundary, phase: Phase | null | undefined): EnforcementPoint {
  return boundary === 'action' ? (phase ?? 'request') : boundary;
}

/** The parts of a rule that its condition needs. */
export type ConditionalRule = Pick<Rule, 'name' | 'when' | 'reads'>;

/** A condition's result; `null` if it has none. */
export type ConditionResult = boolean | null;

/** Inputs of CEL conditions, in addition to the crossing's own fields. */
export interface ConditionInputs {
  /** Returns found and declared tags. Called only if a condition is evaluated. */
  readonly data_tags: () => readonly Tag[];
  readonly findings_count: number;
  /** True for a tool call, or its result, whose tool has no contract. */
  readonly is_undeclared: boolean;
  /** If `null`, no condition can be evaluated. */
  readonly conditions: ConditionEvaluator | null;
  /** The content as it is sent; absent if it is not known. */
  readonly content?: Content | undefined;
  /** Finds the recorded result for a condition on arguments, instead of evaluating it. */
  readonly findRecordedResult?: ((rule: ConditionalRule) => ConditionResult) | undefined;
}

/** Builds the context that rules match on. */
export function buildRuleContext(crossing: CrossingContext, known: ConditionInputs): RuleContext {
  const { tool, approved_rules, principal = NO_PRINCIPAL, session_tags = [] } = crossing;
  const results = new Map<ConditionalRule, ConditionResult>();
  const tiers = listPossibleTiers(principal);
  const evaluateUnder = (when: string, occurrence: TagOccurrence | null, tier: string): boolean => {
    if (known.conditions === null) throw new Error('There is nothing here that evaluates conditions.');
    return known.conditions.evaluate(when, buildConditionFacts(crossing, known, occurrence, tier));
  };
  const evaluate: RuleContext['evaluateCondition'] = ({ when }, occurrence, isAllowing) => {
    const holds = (tier: string) => evaluateUnder(when as string, occurrence, tier);
    return isAllowing ? tiers.every(holds) : tiers.some(holds);
  };
  const evaluateCondition: RuleContext['evaluateCondition'] = (rule, occurrence, isAllowing) => {
    if (rule.reads === undefined) return evaluate(rule, occurrence, isAllowing);
    let result = rule.reads.names_tag ? undefined : results.get(rule);
    if (result === undefined) {
      result = known.findRecordedResult
        ? known.findRecordedResult(rule)
        : getResult(() => evaluate(rule, occurrence, isAllowing));
      results.set(rule, result);
    }
    if (result === null) throw new NoResult();
    return result;
  };
  return {
    tool,
    agents: listActingAgents(crossing),
    principal,
    approved_rules,
    session_tags,
    evaluateCondition,
    condition_results: results,
    matched_flow_rules: [],
    rules_without_person: [],
  };
}

/**
 * Lists, by rule, the results for conditions on arguments. A name with two results is left out, and so is a condition
 * on the tag, which may have a result for each tag.
 */
export function listConditionResults({ condition_results }: RuleContext): readonly RuleConditionResult[] {
  if (condition_results.size === 0) return [];
  const listed = new Map<string, RuleConditionResult | null>();
  for (const [{ name, reads }, result] of condition_results) {
    if (reads === undefined || reads.names_tag) continue;
    const before = listed.get(name);
    const isSame = before === undefined || before?.result === result;
    listed.set(name, isSame ? { rule: name, result, arguments: reads.arguments } : null);
  }
  return [...listed.values()].filter((each) => each !== null);
}

function getResult(evaluate: () => boolean): ConditionResult {
  try {
    return evaluate();
  } catch {
    return null;
  }
}

/** Returns every agent that acts in a crossing, each once: those in the chain, the source agent, the agent. */
export function listActingAgents({
  agent_id,
  source_agent_id,
  principal,
}: Pick<Crossing, 'agent_id' | 'source_agent_id' | 'principal'>): readonly string[] {
  const last =
    source_agent_id === null || source_agent_id === agent_id ? [agent_id] : [source_agent_id, agent_id];
  const chain = principal?.chain ?? [];
  return chain.length === 0 ? last : [...new Set([...chain, ...last])];
}

/** Returns whether action `a` is stricter than `b`. */
export function isStricter(a: Action, b: Action): boolean {
  return ACTIONS.indexOf(a) > ACTIONS.indexOf(b);
}

/** Returns the strictest candidate, the first of equals; `null` if there is none. */
export function findStrictest<T extends { readonly action: Action }>(candidates: readonly T[]): T | null {
  let strictest: T | null = null;
  for (const each of candidates) {
    if (strictest === null || isStricter(each.action, strictest.action)) strictest = each;
  }
  return strictest;
}

/** First term of a rule that did not match. */
export type RuleMismatch =
  | 'tag'
  | 'severity'
  | 'detector'
  | 'tool'
  | 'agent'
  | 'user'
  | 'agent_tier'
  | 'session_tags'
  | 'when';

/** Called for each evaluated rule, in order, with the term that did not match, or `null` if the rule matches. */
export type RuleObserver = (
  rule: Rule,
  mismatch: RuleMismatch | null,
  occurrence: TagOccurrence | null,
) => void;

/**
 * Returns the rule that decides on a tag: a configured rule, else a built-in rule, else `null`. The caller applies
 * the default action.
 */
export function findRuleForTag(
  table: RuleTable,
  occurrence: TagOccurrence,
  context: RuleContext,
  monitored: MonitoredRule[],
  onRule?: RuleObserver,
): Rule | null {
  const own = findStrictest(findMatchingRules(table.tag_rules, occurrence, context, monitored, onRule));
  const rule =
    own === null || yieldsToBuiltin(own, table, occurrence, context)
      ? findBuiltinRule(table, occurrence, context, onRule)
      : own;
  if (table.flow_rules.length === 0) return rule;
  const flow = findStrictest(findMatchingRules(table.flow_rules, occurrence, context, monitored, onRule));
  const action = rule?.action ?? (isFactTag(occurrence.tag) ? 'allow' : table.default_action);
  return flow !== null && isStricter(flow.action, action) ? flow : rule;
}

/** Returns the rules that act on findings by allowlisted detectors: the tenant's, and flow rules. */
export const getBindingTable = memoize(
  (table: RuleTable): RuleTable => ({
    ...table,
    tag_rules: table.tag_rules.map((list) => list.filter(({ tenant_id }) => tenant_id !== null)),
    builtin_rules: [],
    default_action: 'allow',
  }),
);

/** The commands with which an agent would loosen its guard. */
const GUARD: Tag = 'dangerous.guard';

/** Returns whether a rule would loosen the guard without its name, by `dangerous` for example. */
function yieldsToBuiltin(
  own: Rule,
  table: RuleTable,
  occurrence: TagOccurrence,
  context: RuleContext,
): boolean {
  if (!covers(GUARD, occurrence.tag) || own.data_tags.some((tag) => covers(GUARD, tag))) return false;
  const builtin = findBuiltinRule(table, occurrence, context, undefined);
  return isStricter(builtin?.action ?? table.default_action, own.action);
}

function findBuiltinRule(
  table: RuleTable,
  occurrence: TagOccurrence,
  context: RuleContext,
  onRule: RuleObserver | undefined,
): Rule | null {
  const builtin = table.builtin_rules.find((rule) => matchRule(rule, occurrence, context, onRule) === 'yes');
  return builtin === undefined ? null : applyApproval(builtin, builtin.name, context.approved_rules);
}

/** Returns the rule that decides on the crossing itself, regardless of its tags; `null` if none matches. */
export function findRuleForCrossing(
  table: RuleTable,
  context: RuleContext,
  monitored: MonitoredRule[],
  onRule?: RuleObserver,
): Rule | null {
  if (table.crossing_rules.length === 0) return null;
  return findStrictest(findMatchingRules(table.crossing_rules, null, context, monitored, onRule));
}

/** Returns the rule that decides on a tag, or `null`. */
export type TagRuleFinder = (occurrence: TagOccurrence) => Rule | null;

/** Caches the rule per tag, severity and detector: a text can hold thousands of findings with few distinct ones. */
export function memoizePerTag(findRule: TagRuleFinder): TagRuleFinder {
  const known = new Map<string, Rule | null>();
  return (occurrence) => {
    const key = `${occurrence.severity} ${occurrence.tag} ${occurrence.rule_id}`;
    let rule = known.get(key);
    if (rule === undefined) {
      rule = findRule(occurrence);
      known.set(key, rule);
    }
    return rule;
  };
}

/**
 * Returns the first matching rule of each list. A matching rule in monitor mode is recorded, and the search continues
 * with the next rule.
 */
function findMatchingRules(
  lists: readonly (readonly Rule[])[],
  occurrence: TagOccurrence | null,
  context: RuleContext,
  monitored: MonitoredRule[],
  onRule: RuleObserver | undefined,
): Rule[] {
  const found: Rule[] = [];
  for (const list of lists) {
    for (const rule of list) {
      const match = matchRule(rule, occurrence, context, onRule);
      if (match === 'no') continue;
      if (rule.enforcement === 'enforce' || context.enforces_monitored) {
        if (isFlowRule(rule) && !context.matched_flow_rules.includes(rule))
          context.matched_flow_rules.push(rule);
        if (lacksPerson(rule, context)) {
          if (!context.rules_without_person.includes(rule)) context.rules_without_person.push(rule);
          found.push({ ...rule, action: 'block', reason: describeMissingPerson(rule) });
          continue;
        }
        const matched = match === 'yes' ? rule : { ...rule, reason: describeUnknownCondition(rule) };
        found.push(applyApproval(matched, rule.name, context.approved_rules));
        // A rule with an unknown condition does not shadow later rules.
        if (match === 'yes') break;
        continue;
      }
      const action = lacksPerson(rule, context) ? 'block' : rule.action;
      addMonitored(monitored, { rule: rule.name, action, tag: occurrence?.tag ?? null });
    }
  }
  return found;
}

/**
 * Lowers `require_approval` to `flag` if the approval for this name was granted; returns other candidates unchanged.
 */
export function applyApproval<Candidate extends { readonly action: Action; readonly reason: string }>(
  candidate: Candidate,
  name: string,
  approvedRules: readonly string[] = [],
): Candidate {
  if (candidate.action !== 'require_approval' || !approvedRules.includes(name)) return candidate;
  return { ...candidate, action: 'flag', reason: 'The action was approved, as the rule requires.' };
}

/** Adds an entry unless the list already has it. */
export function addMonitored(monitored: MonitoredRule[], added: MonitoredRule): void {
  const same = (each: MonitoredRule) =>
    each.rule === added.rule && each.action === added.action && each.tag === added.tag;
  if (!monitored.some(same)) monitored.push(added);
}

/** Result of matching a rule; `unknown` if the condition of a restricting rule could not be evaluated. */
type MatchResult = 'yes' | 'no' | 'unknown';

function matchRule(
  rule: Rule,
  occurrence: TagOccurrence | null,
  context: RuleContext,
  onRule: RuleObserver | undefined,
): MatchResult {
  const mismatch =
    (occurrence === null ? null : findTagMismatch(rule, occurrence)) ?? findContextMismatch(rule, context);
  const match = mismatch === null ? matchCondition(rule, occurrence, context) : 'no';
  onRule?.(rule, mismatch ?? (match === 'no' ? 'when' : null), occurrence);
  return match;
}

function matchCondition(rule: Rule, occurrence: TagOccurrence | null, context: RuleContext): MatchResult {
  if (rule.when === null) return 'yes';
  try {
    return context.evaluateCondition(rule, occurrence, rule.action === 'allow') ? 'yes' : 'no';
  } catch {
    // An unknown condition never allows anything and never prevents a rule from restricting.
    return rule.action === 'allow' ? 'no' : 'unknown';
  }
}

/** Returns the proved tier, or no tier and the stated one. */
function listPossibleTiers({ agent_tier, claimed_tier }: Principal): readonly string[] {
  if (agent_tier !== null) return [agent_tier];
  return claimed_tier === null ? [''] : ['', claimed_tier];
}

function lacksPerson({ users, groups, action }: Rule, { principal }: RuleContext): boolean {
  return action !== 'allow' && principal.user === null && (users !== undefined || groups !== undefined);
}

/** Builds the violation for a rule on particular people, while no person is proved. */
export function buildMissingPersonViolation(rule: Rule): Violation {
  const { name, severity } = rule;
  return {
    type: 'identity_violation',
    rule: name,
    severity: severity ?? 'high',
    path: null,
    reason: describeMissingPerson(rule),
  };
}

function describeMissingPerson({ name }: Rule): string {
  return `The rule \`${name}\` is for particular people, and the call proves no person.`;
}

function describeUnknownCondition({ name }: Rule): string {
  return `The condition of the rule \`${name}\` could not be evaluated, so it counts as met.`;
}

/** Returns whether each required tag, or a descendant of it, is among the session's taint tags. */
function hasSessionTags(required: readonly Tag[], sessionTags: readonly Tag[]): boolean {
  return required.every((ancestor) => sessionTags.some((tag) => covers(ancestor, tag)));
}

/**
 * Returns whether a rule restricts by the session's taint tags. Rules that allow keep their place among the other
 * rules.
 */
export function isFlowRule({ session_tags, action }: Rule): boolean {
  return session_tags.length > 0 && action !== 'allow';
}

function findTagMismatch(rule: Rule, { tag, severity, rule_id }: TagOccurrence): RuleMismatch | null {
  if (!isCoveredBy(rule.data_tags, tag)) return 'tag';
  if (rule.rule_ids !== undefined && (rule_id === undefined || !matchesAny(rule.rule_ids, rule_id)))
    return 'detector';
  // Without a finding the severity is unknown, so the highest is assumed.
  if (rule.severity_min === null || severity === null) return null;
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(rule.severity_min) ? null : 'severity';
}

/**
 * Returns the first term of a rule that the context does not match. A restricting rule matches if any acting agent is
 * one of its agents. An allowing rule matches only if all of them are, so naming a second agent never loosens a
 * decision. A restricting rule ignores the case of tool names; an allowing rule requires the exact name.
 */
export function findContextMismatch(rule: RuleTerms, context: RuleContext): RuleMismatch | null {
  const { tools, agents, action, session_tags } = rule;
  const { tool } = context;
  const fits = action === 'allow' ? matchesAny : matchesAnyCase;
  if (tools.length > 0 && (tool === null || !fits(tools, tool))) return 'tool';
  const isOne = (agent: string) => agents.length === 0 || matchesAny(agents, agent);
  const holds = action === 'allow' ? context.agents.every(isOne) : context.agents.some(isOne);
  if (!holds) return 'agent';
  const mismatch = findPrincipalMismatch(rule, context.principal);
  if (mismatch !== null) return mismatch;
  return hasSessionTags(session_tags, context.session_tags) ? null : 'session_tags';
}

/** Terms of a rule that do not depend on the content. */
type RuleTerms = Pick<
  Rule,
  'tools' | 'agents' | 'users' | 'groups' | 'agent_tiers' | 'action' | 'session_tags'
>;

/** Without a proved person, a restricting rule on people matches, and then blocks. */
function findPrincipalMismatch(
  { users, groups, agent_tiers, action }: RuleTerms,
  principal: Principal,
): RuleMismatch | null {
  const isAllowing = action === 'allow';
  if (principal.user === null) {
    if (isAllowing && (users !== undefined || groups !== undefined)) return 'user';
  } else if (!matchesPerson({ users, groups }, principal.user)) return 'user';
  if (agent_tiers === undefined) return null;
  const isListed = (tier: string) => agent_tiers.some((each) => each === tier);
  const tiers = listPossibleTiers(principal);
  return (isAllowing ? tiers.every(isListed) : tiers.some(isListed)) ? null : 'agent_tier';
}

/** Returns whether a person is listed, or is in a listed group. Without lists everyone is. */
export function matchesPerson(
  {
    users,
    groups,
  }: { readonly users?: readonly string[] | undefined; readonly groups?: readonly string[] | undefined },
  user: ProvedUser,
): boolean {
  if (users === undefined && groups === undefined) return true;
  return (
    matchesAny(users ?? [], user.user_id) || user.groups.some((group) => matchesAny(groups ?? [], group))
  );
}

const tables = new WeakMap<Policy, Map<string | null, Record<EnforcementPoint, RuleTable>>>();

/**
 * Returns the rules of an enforcement point for a tenant, in the order of evaluation. Built once per policy and per
 * tenant with rules of its own; all other tenants share the global table.
 */
export function getRuleTable(policy: Policy, place: EnforcementPoint, tenantId: string): RuleTable {
  let perTenant = tables.get(policy);
  if (perTenant === undefined) {
    perTenant = buildTenantTables(policy);
    tables.set(policy, perTenant);
  }
  const own = perTenant.get(tenantId) ?? perTenant.get(null);
  return (own as Record<EnforcementPoint, RuleTable>)[place];
}

function buildTenantTables(policy: Policy): Map<string | null, Record<EnforcementPoint, RuleTable>> {
  const scoped = [...policy.rules, ...policy.taint_rules];
  const tenants = new Set<string | null>([null, ...scoped.map(({ tenant_id }) => tenant_id)]);
  const derived = new Map<string | null, Record<EnforcementPoint, RuleTable>>();
  for (const tenant of tenants) derived.set(tenant, buildTables(policy, tenant));
  return derived;
}

/** Boundary and phase of the rules in one list. */
export interface RuleScope {
  readonly boundary: Boundary;
  readonly phase: Phase | null;
}

/**
 * Lists of configured rules that are evaluated at each enforcement point, each on its own. The first list is that of
 * the point itself.
 */
export const RULE_SCOPES: Readonly<Record<EnforcementPoint, readonly [RuleScope, ...RuleScope[]]>> = {
  input: [{ boundary: 'input', phase: null }],
  output: [{ boundary: 'output', phase: null }],
  request: [
    { boundary: 'action', phase: 'request' },
    { boundary: 'input', phase: null },
  ],
  message: [
    { boundary: 'action', phase: 'message' },
    { boundary: 'input', phase: null },
  ],
  response: [
    { boundary: 'action', phase: 'response' },
    { boundary: 'output', phase: null },
  ],
};

/** Returns the reason why a rule is not in such a list; `null` if it is. */
export function findScopeMismatch(
  rule: Pick<Rule, 'boundaries' | 'phases'>,
  { boundary, phase }: RuleScope,
): 'boundary' | 'phase' | null {
  if (!rule.boundaries.includes(boundary)) return 'boundary';
  return phase === null || rule.phases.includes(phase) ? null : 'phase';
}

function buildTables(policy: Policy, tenant: string | null): Record<EnforcementPoint, RuleTable> {
  const { builtin_rules, default_action } = policy;
  const rules = selectForTenant(policy.rules, tenant);
  const taintRules = selectForTenant(policy.taint_rules, tenant);
  const seen = <T extends Pick<Rule, 'boundaries' | 'phases'>>(all: readonly T[], scope: RuleScope) =>
    all.filter((each) => findScopeMismatch(each, scope) === null);
  const at = (place: EnforcementPoint) => {
    const [here] = RULE_SCOPES[place];
    const lists = RULE_SCOPES[place].map((scope) => seen(rules, scope));
    return buildTable(lists, {
      builtin_rules: seen(builtin_rules, here),
      taint_rules: seen(taintRules, here),
      default_action,
    });
  };
  return {
    input: at('input'),
    output: at('output'),
    request: at('request'),
    message: at('message'),
    response: at('response'),
  };
}

/** Returns a tenant's own entries, then the global ones. */
function selectForTenant<T extends { readonly tenant_id: string | null }>(
  list: readonly T[],
  tenant: string | null,
): readonly T[] {
  const own = tenant === null ? [] : list.filter(({ tenant_id }) => tenant_id === tenant);
  return [...own, ...list.filter(({ tenant_id }) => tenant_id === null)];
}

function buildTable(
  lists: readonly (readonly Rule[])[],
  others: Pick<RuleTable, 'builtin_rules' | 'taint_rules' | 'default_action'>,
): RuleTable {
  const flow = [...new Set(lists.flat())].filter(isFlowRule).map((rule) => [rule]);
  const ordered = lists.map((list) => list.filter((rule) => !isFlowRule(rule)));
  const filtered = (lists: readonly (readonly Rule[])[], keep: (rule: Rule) => boolean) =>
    lists.map((list) => list.filter(keep)).filter((list) => list.length > 0);
  return {
    crossing_rules: filtered([...ordered, ...flow], (rule) => rule.data_tags.length === 0),
    tag_rules: filtered(ordered, (rule) => rule.data_tags.length > 0),
    flow_rules: filtered(flow, (rule) => rule.data_tags.length > 0),
    ...others,
  };
}
