import {
  buildConditionFacts,
  type ConditionEvaluator,
  type ConditionFacts,
} from '../policy/conditions/facts.ts';
import { covers, isCoveredBy, isFactTag, matchesAny, matchesAnyCase } from '../tags.ts';
import {
  ACTIONS,
  type Action,
  type Boundary,
  type Crossing,
  type CrossingContext,
  type MonitoredRule,
  type Phase,
  type Policy,
  type Rule,
  SEVERITIES,
  type Severity,
  type Tag,
  type TaintRule,
} from '../types/index.ts';

/** Where rules are asked: a boundary, and at `action` the phase. */
export type EnforcementPoint = 'input' | 'output' | Phase;

/** What a crossing brings to a rule's conditions, beside its tags. */
export interface RuleContext {
  readonly tool: string | null;
  /** Everyone that the crossing says is acting; never empty. */
  readonly agents: readonly string[];
  /** Names of rules whose `require_approval` is granted. */
  readonly approved_rules?: readonly string[] | undefined;
  /** Whether rules in monitor mode speak as those in force do: what they would come to. */
  readonly enforces_monitored?: boolean;
  /** What the session has read. */
  readonly session_tags: readonly Tag[];
  /**
   * Whether a condition in CEL holds for the tag that is asked about, `null` for the crossing itself. Throws where
   * nobody can tell.
   */
  readonly evaluateCondition: (when: string, occurrence: TagOccurrence | null) => boolean;
  /** Rules about the session that spoke are added here. */
  readonly matched_flow_rules: Rule[];
}

/**
 * The rules of one place for one tenant. A list is a list in which the first that matches speaks; where
 * there are several lists each may speak, and the strictest stands.
 */
export interface RuleTable {
  readonly crossing_rules: readonly (readonly Rule[])[];
  readonly tag_rules: readonly (readonly Rule[])[];
  readonly builtin_rules: readonly Rule[];
  /**
   * Rules about tags that restrict what a session may do after what it has read. Each speaks for itself and hides
   * no other, so that a session that has read more is never let through where one that has read less is not.
   */
  readonly flow_rules: readonly (readonly Rule[])[];
  /** What speaks for tags that no rule names. */
  readonly default_action: Action;
  readonly taint_rules: readonly TaintRule[];
}

/** A tag and what is known about its finding; the severity is `null` where the tag was only declared. */
export interface TagOccurrence {
  readonly tag: Tag;
  readonly severity: Severity | null;
}

/** Where a crossing is judged. An action without a phase is a request. */
export function getEnforcementPoint(boundary: Boundary, phase: Phase | null | undefined): EnforcementPoint {
  return boundary === 'action' ? (phase ?? 'request') : boundary;
}

/** What conditions in CEL may ask about, beside the crossing's own fields. */
export interface ConditionInputs {
  /** Found and declared; asked for where a condition is. */
  readonly data_tags: () => readonly Tag[];
  /** How many findings there are. */
  readonly findings_count: number;
  /** `null`: no condition has an answer. */
  readonly conditions: ConditionEvaluator | null;
}

/** What a crossing brings to the conditions of rules. */
export function buildRuleContext(crossing: CrossingContext, known: ConditionInputs): RuleContext {
  const { tool, approved_rules, session_tags = [] } = crossing;
  const evaluateCondition = (when: string, occurrence: TagOccurrence | null): boolean => {
    if (known.conditions === null) throw new Error('There is nothing here that evaluates conditions.');
    const facts: ConditionFacts = buildConditionFacts(
      crossing,
      known.data_tags(),
      known.findings_count,
      occurrence,
    );
    return known.conditions.evaluate(when, facts);
  };
  return {
    tool,
    agents: listActingAgents(crossing),
    approved_rules,
    session_tags,
    evaluateCondition,
    matched_flow_rules: [],
  };
}

/** Everyone that acts in a crossing: the agent, and the source where it is named and another. */
export function listActingAgents(
  crossing: Pick<Crossing, 'agent_id' | 'source_agent_id'>,
): readonly string[] {
  const { agent_id, source_agent_id } = crossing;
  return source_agent_id === null || source_agent_id === agent_id ? [agent_id] : [source_agent_id, agent_id];
}

/** The stricter of two actions. */
export function isStricter(a: Action, b: Action): boolean {
  return ACTIONS.indexOf(a) > ACTIONS.indexOf(b);
}

/** The strictest of those that speak, the first of equals; `null` where there is none. */
export function findStrictest<T extends { readonly action: Action }>(candidates: readonly T[]): T | null {
  let strictest: T | null = null;
  for (const each of candidates) {
    if (strictest === null || isStricter(each.action, strictest.action)) strictest = each;
  }
  return strictest;
}

/** What of a rule's conditions did not hold. */
export type RuleMismatch = 'tag' | 'severity' | 'tool' | 'agent' | 'session_tags' | 'when';

/** Told of each rule that is asked, in order: what did not hold of it, or `null` where it matches. */
export type RuleObserver = (
  rule: Rule,
  mismatch: RuleMismatch | null,
  occurrence: TagOccurrence | null,
) => void;

/** The rule that decides on a tag: one's own, else a built-in one, else `null`: the default is for the caller. */
export function findRuleForTag(
  table: RuleTable,
  occurrence: TagOccurrence,
  context: RuleContext,
  monitored: MonitoredRule[],
  onRule?: RuleObserver,
): Rule | null {
  const own = findStrictest(findMatchingRules(table.tag_rules, occurrence, context, monitored, onRule));
  const rule = own ?? findBuiltinRule(table, occurrence, context, onRule);
  if (table.flow_rules.length === 0) return rule;
  const flow = findStrictest(findMatchingRules(table.flow_rules, occurrence, context, monitored, onRule));
  const action = rule?.action ?? (isFactTag(occurrence.tag) ? 'allow' : table.default_action);
  return flow !== null && isStricter(flow.action, action) ? flow : rule;
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

/** The rule that decides on the crossing itself, whatever its tags; `null` where none speaks. */
export function findRuleForCrossing(
  table: RuleTable,
  context: RuleContext,
  monitored: MonitoredRule[],
  onRule?: RuleObserver,
): Rule | null {
  if (table.crossing_rules.length === 0) return null;
  return findStrictest(findMatchingRules(table.crossing_rules, null, context, monitored, onRule));
}

/** Gives the rule that decides on a tag, or `null`. */
export type TagRuleFinder = (occurrence: TagOccurrence) => Rule | null;

/** A text can hold thousands of findings, but they have few tags: the rules are asked once about each. */
export function memoizePerTag(findRule: TagRuleFinder): TagRuleFinder {
  const known = new Map<string, Rule | null>();
  return (occurrence) => {
    const key = `${occurrence.severity} ${occurrence.tag}`;
    let rule = known.get(key);
    if (rule === undefined) {
      rule = findRule(occurrence);
      known.set(key, rule);
    }
    return rule;
  };
}

/** The first of each list that matches. One in monitor mode is added, and the next is asked. */
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
        const matched = match === 'yes' ? rule : { ...rule, reason: describeUnknownCondition(rule) };
        found.push(applyApproval(matched, rule.name, context.approved_rules));
        // A rule of which nobody can tell whether it fits hides none behind it.
        if (match === 'yes') break;
        continue;
      }
      addMonitored(monitored, { rule: rule.name, action: rule.action, tag: occurrence?.tag ?? null });
    }
  }
  return found;
}

/** What asks for approval under a name that was granted takes note and no more; all else stays as it is. */
export function applyApproval<Candidate extends { readonly action: Action; readonly reason: string }>(
  candidate: Candidate,
  name: string,
  approved_rules: readonly string[] = [],
): Candidate {
  if (candidate.action !== 'require_approval' || !approved_rules.includes(name)) return candidate;
  return { ...candidate, action: 'flag', reason: 'The action was approved, as the rule requires.' };
}

/** Adds to the list what is not in it yet. */
export function addMonitored(monitored: MonitoredRule[], added: MonitoredRule): void {
  const same = (each: MonitoredRule) =>
    each.rule === added.rule && each.action === added.action && each.tag === added.tag;
  if (!monitored.some(same)) monitored.push(added);
}

/** Whether a rule fits; `unknown` where its condition has no answer and it would restrict. */
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

function matchCondition(
  { when, action }: Rule,
  occurrence: TagOccurrence | null,
  { evaluateCondition }: RuleContext,
): MatchResult {
  if (when === null) return 'yes';
  try {
    return evaluateCondition(when, occurrence) ? 'yes' : 'no';
  } catch {
    // What is not known to hold never lets anything through, and never keeps a rule from restricting.
    return action === 'allow' ? 'no' : 'unknown';
  }
}

function describeUnknownCondition({ name }: Rule): string {
  return `The condition of the rule \`${name}\` could not be evaluated, so it counts as met.`;
}

/** Whether each of the tags, or a descendant of it, is among those that a session has read. */
function hasSessionTags(required: readonly Tag[], session_tags: readonly Tag[]): boolean {
  return required.every((ancestor) => session_tags.some((tag) => covers(ancestor, tag)));
}

/** Whether a rule restricts what may follow in a session. One that allows stands in the order of the others. */
export function isFlowRule({ session_tags, action }: Rule): boolean {
  return session_tags.length > 0 && action !== 'allow';
}

function findTagMismatch(rule: Rule, { tag, severity }: TagOccurrence): RuleMismatch | null {
  if (!isCoveredBy(rule.data_tags, tag)) return 'tag';
  // Without a finding the severity is not known, so the worst is assumed.
  if (rule.severity_min === null || severity === null) return null;
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(rule.severity_min) ? null : 'severity';
}

/**
 * A rule that restricts holds when any of the acting agents is one of its own; a rule that allows only when
 * all of them are, so that naming a second agent never loosens anything. A rule that restricts holds for every
 * spelling of its tools in upper and lower case; a rule that allows only for the one it writes.
 */
export function findContextMismatch(
  { tools, agents, action, session_tags }: Pick<Rule, 'tools' | 'agents' | 'action' | 'session_tags'>,
  context: RuleContext,
): RuleMismatch | null {
  const { tool } = context;
  const fits = action === 'allow' ? matchesAny : matchesAnyCase;
  if (tools.length > 0 && (tool === null || !fits(tools, tool))) return 'tool';
  const isOne = (agent: string) => agents.length === 0 || matchesAny(agents, agent);
  const holds = action === 'allow' ? context.agents.every(isOne) : context.agents.some(isOne);
  if (!holds) return 'agent';
  return hasSessionTags(session_tags, context.session_tags) ? null : 'session_tags';
}

const tables = new WeakMap<Policy, Map<string | null, Record<EnforcementPoint, RuleTable>>>();

/**
 * The rules of a place for a tenant, in the order in which they are asked. Derived once per policy and tenant
 * that has rules of its own; every other tenant shares the global table.
 */
export function getRuleTable(policy: Policy, place: EnforcementPoint, tenant_id: string): RuleTable {
  let perTenant = tables.get(policy);
  if (perTenant === undefined) {
    perTenant = buildTenantTables(policy);
    tables.set(policy, perTenant);
  }
  const own = perTenant.get(tenant_id) ?? perTenant.get(null);
  return (own as Record<EnforcementPoint, RuleTable>)[place];
}

function buildTenantTables(policy: Policy): Map<string | null, Record<EnforcementPoint, RuleTable>> {
  const scoped = [...policy.rules, ...policy.taint_rules];
  const tenants = new Set<string | null>([null, ...scoped.map(({ tenant_id }) => tenant_id)]);
  const derived = new Map<string | null, Record<EnforcementPoint, RuleTable>>();
  for (const tenant of tenants) derived.set(tenant, buildTables(policy, tenant));
  return derived;
}

/** Which rules one list holds: those of a boundary, and of a phase of it. */
export interface RuleScope {
  readonly boundary: Boundary;
  readonly phase: Phase | null;
}

/** The lists of one's own rules that are asked at a place, each by itself; the first is that of the place. */
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

/** Why a rule does not stand in such a list; `null` where it does. */
export function findScopeMismatch(
  rule: Pick<Rule, 'boundaries' | 'phases'>,
  { boundary, phase }: RuleScope,
): 'boundary' | 'phase' | null {
  if (!rule.boundaries.includes(boundary)) return 'boundary';
  return phase === null || rule.phases.includes(phase) ? null : 'phase';
}

function buildTables(policy: Policy, tenant: string | null): Record<EnforcementPoint, RuleTable> {
  const { builtin_rules, default_action } = policy;
  const rules = forTenant(policy.rules, tenant);
  const taint_rules = forTenant(policy.taint_rules, tenant);
  const seen = <T extends Pick<Rule, 'boundaries' | 'phases'>>(all: readonly T[], scope: RuleScope) =>
    all.filter((each) => findScopeMismatch(each, scope) === null);
  const at = (place: EnforcementPoint) => {
    const [here] = RULE_SCOPES[place];
    const lists = RULE_SCOPES[place].map((scope) => seen(rules, scope));
    return buildTable(lists, {
      builtin_rules: seen(builtin_rules, here),
      taint_rules: seen(taint_rules, here),
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

/** A tenant's own before those of all. */
function forTenant<T extends { readonly tenant_id: string | null }>(
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
