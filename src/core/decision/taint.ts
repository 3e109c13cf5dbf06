import { listUntrustedLabels } from '../flow/labels.ts';
import { isCoveredBy, normalizeTag } from '../tags.ts';
import type {
  Crossing,
  JudgedFinding,
  Policy,
  Rule,
  Tag,
  TaintChange,
  TaintRule,
  Violation,
} from '../types/index.ts';
import { selectDetected } from './classifier-findings.ts';
import type { ContractMatch } from './find-contract.ts';
import { findContextMismatch, type RuleContext, type RuleTable } from './rules.ts';

/** Returns whether a rule that applies to the tenant depends on session taint tags. */
export function usesSessionTags(policy: Policy, tenantId: string): boolean {
  let tenants = sessionTenants.get(policy);
  if (tenants === undefined) {
    const rules = policy.rules.filter(
      ({ session_tags, when }) => session_tags.length > 0 || (when !== null && NAMES_SESSION.test(when)),
    );
    tenants = new Set(rules.map((rule) => rule.tenant_id));
    sessionTenants.set(policy, tenants);
  }
  return tenants.size > 0 && (tenants.has(null) || tenants.has(tenantId));
}

const sessionTenants = new WeakMap<Policy, ReadonlySet<string | null>>();
const NAMES_SESSION = /\bsession_tags\b/;

/** Input of `computeTaintChange`. */
export interface TaintInput {
  readonly crossing: Crossing;
  readonly policy: Policy;
  readonly table: RuleTable;
  /** Findings with their actions. Masked findings add no taint tag. */
  readonly findings: readonly JudgedFinding[];
  readonly contract: ContractMatch;
  /** Found and declared tags. */
  readonly data_tags: readonly Tag[];
  /** Tags without a position in the content. */
  readonly declared: readonly Tag[];
  readonly context: RuleContext;
}

/**
 * Returns the change that a passed crossing makes to its session's taint tags; `null` if there is none. Inputs,
 * results and messages add the tags of unmasked findings and declared tags. A call adds the tags that its contract
 * emits, because not every client sends results to the service. Then the taint rules apply. For a message, the
 * session is the receiver's.
 */
export function computeTaintChange(input: TaintInput): TaintChange | null {
  const { crossing, policy, table, contract, data_tags, context } = input;
  if (!usesSessionTags(policy, crossing.tenant_id)) return null;
  const add = new Set<Tag>(isReadByAgent(crossing) ? listReadTags(input) : []);
  if (contract !== null && contract !== 'undeclared')
    for (const tag of [...(contract.emits.tags ?? []), ...listUntrustedLabels(contract)]) add.add(tag);
  const removed = new Set<Tag>();
  let isReset = false;
  const detectedTags = listDetectedTags(input);
  for (const rule of table.taint_rules) {
    if (!matchesTaintRule(rule, isAdding(rule) ? data_tags : detectedTags, context)) continue;
    for (const tag of rule.change.add) add.add(tag);
    if (rule.change.remove === 'all') isReset = true;
    else for (const tag of rule.change.remove) removed.add(tag);
  }
  if (add.size === 0 && removed.size === 0 && !isReset) return null;
  return { add: [...add].sort(), remove: isReset ? 'all' : [...removed].sort() };
}

/**
 * Returns whether a taint rule matches. If its condition cannot be evaluated, a rule that only adds tags matches and
 * a rule that removes tags does not.
 */
function matchesTaintRule(rule: TaintRule, tags: readonly Tag[], context: RuleContext): boolean {
  const adds = isAdding(rule);
  if (rule.data_tags.length > 0 && !tags.some((tag) => isCoveredBy(rule.data_tags, tag))) return false;
  if (findContextMismatch({ ...rule, action: adds ? 'flag' : 'allow' }, context) !== null) return false;
  if (rule.when === null) return true;
  try {
    return context.evaluateCondition(rule, null, !adds);
  } catch {
    return adds;
  }
}

function isAdding({ change }: TaintRule): boolean {
  return change.remove !== 'all' && change.remove.length === 0;
}

/** Returns the tags on which the removal of taint tags may depend. */
function listDetectedTags({ findings, declared, data_tags }: TaintInput): readonly Tag[] {
  const detected = selectDetected(findings);
  return detected === findings ? data_tags : [...declared, ...detected.flatMap(({ tags }) => tags)];
}

/** Returns whether the agent receives the crossing's content. Content that it sends adds no taint tags. */
function isReadByAgent({ boundary, phase }: Crossing): boolean {
  return boundary === 'input' || phase === 'response' || phase === 'message';
}

function listReadTags({ crossing, findings }: TaintInput): readonly Tag[] {
  const seen = findings.filter(({ action }) => action !== 'redact').flatMap(({ tags }) => tags);
  const { declared_tags, memory, phase, session_tags = [] } = crossing;
  const ofMemory = memory === undefined || memory.tag === null ? [] : [memory.tag];
  // A message carries the taint tags of its sender's session to the receiver, because the sender may paraphrase
  // tainted data.
  const passedOn = phase === 'message' ? session_tags : [];
  return [...seen, ...declared_tags.map(normalizeTag), ...ofMemory, ...passedOn];
}

/** Builds the violation for a matching rule that restricts by session taint tags. */
export function buildFlowViolation({ name, severity, reason }: Rule): Violation {
  return { type: 'flow_violation', rule: name, severity: severity ?? 'high', path: null, reason };
}
