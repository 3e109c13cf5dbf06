import { isCoveredBy, normalizeTag } from '../tags.ts';
import type {
  Crossing,
  JudgedFinding,
  Policy,
  Rule,
  Tag,
  TaintChange,
  TaintRule,
  ToolContract,
  Violation,
} from '../types/index.ts';
import { findContextMismatch, type RuleContext, type RuleTable } from './rules.ts';

/** Whether a rule that a tenant's crossings are asked about looks at what a session has read. */
export function usesSessionTags(policy: Policy, tenant_id: string): boolean {
  let tenants = session_tenants.get(policy);
  if (tenants === undefined) {
    const rules = policy.rules.filter(
      ({ session_tags, when }) => session_tags.length > 0 || (when !== null && NAMES_SESSION.test(when)),
    );
    tenants = new Set(rules.map((rule) => rule.tenant_id));
    session_tenants.set(policy, tenants);
  }
  return tenants.size > 0 && (tenants.has(null) || tenants.has(tenant_id));
}

const session_tenants = new WeakMap<Policy, ReadonlySet<string | null>>();
const NAMES_SESSION = /\bsession_tags\b/;

/** All that says what a crossing that goes through makes of its session. */
export interface TaintInput {
  readonly crossing: Crossing;
  readonly policy: Policy;
  readonly table: RuleTable;
  /** With what the policy makes of each: what is masked is not read. */
  readonly findings: readonly JudgedFinding[];
  readonly contract: ToolContract | 'undeclared' | null;
  /** Found and declared. */
  readonly data_tags: readonly Tag[];
  readonly context: RuleContext;
}

/**
 * What a crossing that goes through makes of its session's tags; `null` where nothing changes. Inputs, results and
 * messages are read: what is found in them and not masked, and what is declared of them. What a contract says that
 * its tool gives out is read from the call on, for not everyone shows us results. Then the rules' own marks. Of a
 * message it is the session of who gets it.
 */
export function computeTaintChange(input: TaintInput): TaintChange | null {
  const { crossing, policy, table, contract, data_tags, context } = input;
  if (!usesSessionTags(policy, crossing.tenant_id)) return null;
  const add = new Set<Tag>(isReadByAgent(crossing) ? listReadTags(input) : []);
  if (contract !== null && contract !== 'undeclared')
    for (const tag of contract.emits.tags ?? []) add.add(tag);
  const removed = new Set<Tag>();
  let is_reset = false;
  for (const rule of table.taint_rules) {
    if (!matchesTaintRule(rule, data_tags, context)) continue;
    for (const tag of rule.change.add) add.add(tag);
    if (rule.change.remove === 'all') is_reset = true;
    else for (const tag of rule.change.remove) removed.add(tag);
  }
  if (add.size === 0 && removed.size === 0 && !is_reset) return null;
  return { add: [...add].sort(), remove: is_reset ? 'all' : [...removed].sort() };
}

/** Whether a rule fits. One that takes tags away must be known to fit; one that only adds must be known not to. */
function matchesTaintRule(rule: TaintRule, tags: readonly Tag[], context: RuleContext): boolean {
  const is_adding = rule.change.remove !== 'all' && rule.change.remove.length === 0;
  if (rule.data_tags.length > 0 && !tags.some((tag) => isCoveredBy(rule.data_tags, tag))) return false;
  if (findContextMismatch({ ...rule, action: is_adding ? 'flag' : 'allow' }, context) !== null) return false;
  if (rule.when === null) return true;
  try {
    return context.evaluateCondition(rule.when, null);
  } catch {
    return is_adding;
  }
}

/** Whether the agent gets to know what crosses: what it says itself it knows already. */
function isReadByAgent({ boundary, phase }: Crossing): boolean {
  return boundary === 'input' || phase === 'response' || phase === 'message';
}

function listReadTags({ crossing, findings }: TaintInput): readonly Tag[] {
  const seen = findings.filter(({ action }) => action !== 'redact').flatMap(({ tags }) => tags);
  const { declared_tags, memory, phase, session_tags = [] } = crossing;
  const of_memory = memory === undefined || memory.tag === null ? [] : [memory.tag];
  // Who gets a message has read what its sender had read: it may say the same in other words.
  const passed_on = phase === 'message' ? session_tags : [];
  return [...seen, ...declared_tags.map(normalizeTag), ...of_memory, ...passed_on];
}

/** The violation that a rule about the session is, where it spoke. */
export function buildFlowViolation({ name, severity, reason }: Rule): Violation {
  return { type: 'flow_violation', rule: name, severity: severity ?? 'high', path: null, reason };
}
