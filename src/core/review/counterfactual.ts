import { collectTags, DECISIONS_BY_ACTION } from '../decision/evaluate-rules.ts';
import { findContract } from '../decision/find-contract.ts';
import {
  listAgentsWithoutClearance,
  listAgentsWithoutIdentity,
  listAgentsWithoutTool,
} from '../decision/identities.ts';
import { isFactTag } from '../tags.ts';
import type { DecisionResult, Policy } from '../types/index.ts';
import { evaluateRecord, getDecisionResult } from './evaluate-record.ts';
import { type Evaluation, listEvaluations } from './evaluations.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { formatNameList } from './rule-trace.ts';

/** One change that a less strict decision needs. */
export interface CounterfactualChange {
  readonly kind: 'tag' | 'approval' | 'contract' | 'identity' | 'content' | 'coverage' | 'rule';
  /** Name of the rule whose effect the change removes. */
  readonly rule: string;
  /** Phrase that completes "It would have been allowed": `without the tag `x``. */
  readonly change: string;
}

/** The changes that together lead to a less strict decision, and that decision. */
export interface Counterfactual {
  readonly changes: readonly CounterfactualChange[];
  readonly result: DecisionResult;
}

/** Maximum number of rounds. Each round removes at least one evaluation. */
const ROUNDS_MAX = 10;

/**
 * Returns the smallest set of changes that would have allowed a crossing. The strictest action decides, so the set
 * removes every evaluation that blocks and no other. For a crossing that was only modified, the set would have left
 * it unchanged.
 */
export function findCounterfactual(record: RecordedDecision, policy: Policy): Counterfactual {
  const unwanted = getDecisionResult(evaluateRecord(record, policy)).decision;
  const changes: CounterfactualChange[] = [];
  let now = { record, policy };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const evaluations = listEvaluations(now.record, now.policy, evaluateRecord(now.record, now.policy));
    const loud = evaluations.filter(({ action }) => DECISIONS_BY_ACTION[action] === unwanted);
    if (loud.length === 0) break;
    for (const evaluation of loud) {
      const needed = buildChange(evaluation, now.record, now.policy);
      if (!changes.some(({ rule, change }) => rule === needed.rule && change === needed.change))
        changes.push(needed);
      now = dropEvaluation(evaluation, now);
    }
  }
  return { changes, result: getDecisionResult(evaluateRecord(now.record, now.policy)) };
}

function buildChange(evaluation: Evaluation, record: RecordedDecision, policy: Policy): CounterfactualChange {
  const { rule, action, subject, tag, origin } = evaluation;
  if (action === 'require_approval')
    return { kind: 'approval', rule, change: `with the approval that \`${rule}\` requires` };
  if (subject === 'tag') {
    const change =
      origin === 'declared' ? `without declaring the tag \`${tag}\`` : `without the tag \`${tag}\``;
    return { kind: 'tag', rule, change };
  }
  if (subject === 'coverage')
    return { kind: 'coverage', rule, change: 'with a content that stays within the limits of a scan' };
  if (subject === 'crossing') return { kind: 'rule', rule, change: describeOtherCrossing(rule, policy) };
  return buildViolationChange(rule, record, policy);
}

function describeOtherCrossing(name: string, policy: Policy): string {
  const rule = policy.rules.find((each) => each.name === name);
  const { tools = [], agents = [], session_tags = [], reads } = rule ?? {};
  const named = reads?.arguments.filter((name) => name !== '') ?? [];
  const kinds = [
    ...(named.length > 0 ? [`another value of ${formatNameList(named)}`] : []),
    ...((reads?.totals.length ?? 0) > 0 ? ['fewer or smaller calls before it'] : []),
    ...(session_tags.length > 0 ? [`a session that has not read ${formatNameList(session_tags)}`] : []),
    ...(tools.length > 0 ? [`another tool than ${formatNameList(tools)}`] : []),
    ...(agents.length > 0 ? [`another agent than ${formatNameList(agents)}`] : []),
  ];
  return kinds.length === 0
    ? `without the rule \`${name}\`, which is about every crossing here`
    : `with ${kinds.join(', or ')}`;
}

function buildViolationChange(
  rule: string,
  { crossing, findings, declared }: RecordedDecision,
  policy: Policy,
): CounterfactualChange {
  const { tool } = crossing;
  const contract = findContract(crossing, policy);
  const terms = contract === null || contract === 'undeclared' ? null : contract;
  switch (rule) {
    case 'contract.tool':
      return { kind: 'contract', rule, change: `with a contract for the tool \`${tool}\`` };
    case 'contract.accepts.tags':
    case 'contract.emits.tags': {
      const tags = (rule === 'contract.accepts.tags' ? terms?.accepts.tags : terms?.emits.tags) ?? [];
      const allowed = tags.length === 0 ? 'without any tag' : `with no tags but ${formatNameList(tags)}`;
      return { kind: 'contract', rule, change: `${allowed}, as the contract of \`${tool}\` has it` };
    }
    case 'contract.allowed_agents':
      return { kind: 'contract', rule, change: `by an agent that the contract of \`${tool}\` names` };
    case 'contract.required_scopes':
      return {
        kind: 'contract',
        rule,
        change: `for a person with the scopes ${formatNameList(terms?.required_scopes ?? [])}`,
      };
    case 'contract.user':
      return { kind: 'contract', rule, change: 'with a credential that proves the person' };
    case 'identity.users':
      return { kind: 'identity', rule, change: 'for a person for whom each agent of the chain may act' };
    case 'contract.max_calls_per_minute_per_user':
    case 'contract.max_calls_per_minute':
      return { kind: 'contract', rule, change: 'a minute later' };
    case 'identity.agent_id':
      return {
        kind: 'identity',
        rule,
        change: `with an identity document for each of ${formatNameList(listAgentsWithoutIdentity(crossing, policy))}`,
      };
    case 'identity.tools':
      return {
        kind: 'identity',
        rule,
        change: `with \`${tool}\` among the tools of ${formatNameList(listAgentsWithoutTool(crossing, policy))}`,
      };
    case 'identity.require_task':
      return { kind: 'identity', rule, change: 'with a task (`context.task_id`) that allows it' };
    case 'identity.clearance_tags': {
      const tags = collectTags(findings, declared).filter((tag) => !isFactTag(tag));
      const lacking = formatNameList(listAgentsWithoutClearance(crossing, policy, tags));
      return { kind: 'identity', rule, change: `with every tag within the clearance of ${lacking}` };
    }
    default:
      return { kind: 'content', rule, change: `with a content that fits the contract of \`${tool}\`` };
  }
}

interface ReviewContext {
  readonly record: RecordedDecision;
  readonly policy: Policy;
}

/** Returns the record and policy without the effect of an evaluation. */
function dropEvaluation(evaluation: Evaluation, { record, policy }: ReviewContext): ReviewContext {
  const { rule, action, subject, tag } = evaluation;
  const { crossing, findings, declared, content } = record;
  if (action === 'require_approval') {
    const approvedRules = [...(crossing.approved_rules ?? []), rule];
    return { policy, record: { ...record, crossing: { ...crossing, approved_rules: approvedRules } } };
  }
  if (subject === 'tag') {
    return {
      policy,
      record: {
        ...record,
        findings: findings.filter(({ tags }) => !tags.includes(tag as string)),
        declared: declared.filter((each) => each !== tag),
      },
    };
  }
  if (subject === 'coverage') return { policy, record: { ...record, coverage: { status: 'full' } } };
  if (subject === 'crossing')
    return { record, policy: { ...policy, rules: policy.rules.filter(({ name }) => name !== rule) } };
  if (subject === 'identity')
    return { record, policy: { ...policy, identities: [], unknown_agents: 'allow' } };
  const settled = { ...record, content: { ...content, broken: [], strips: false } };
  return { record: settled, policy: relaxPolicy(policy) };
}

/** Returns the policy with contracts that have no terms for tags, callers or call rates. */
function relaxPolicy(policy: Policy): Policy {
  const contracts = policy.contracts.map((each) => ({
    ...each,
    allowed_agents: [],
    max_calls_per_minute: null,
    accepts: { ...each.accepts, tags: null },
    emits: { ...each.emits, tags: null },
  }));
  return { ...policy, contracts, undeclared_tools: 'allow' };
}
