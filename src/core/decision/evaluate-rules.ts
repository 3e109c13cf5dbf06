import { DEFAULT_APPROVAL } from '../policy/compile/builtin.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import { isFactTag } from '../tags.ts';
import type {
  Action,
  ApprovalRequirement,
  Content,
  Coverage,
  CrossingContext,
  Decision,
  DecisionResult,
  Finding,
  JudgedFinding,
  MonitoredRule,
  Policy,
  Tag,
} from '../types/index.ts';
import { findCapabilityRestrictions, findTaskRestrictions } from './capability.ts';
import { isDetected, requirePlace, selectDetected } from './classifier-findings.ts';
import { findContractRestrictions, findResultMask } from './contracts.ts';
import { type ContractMatch, isUndeclared } from './find-contract.ts';
import { findIdentityRestrictions } from './identities.ts';
import {
  buildCoverageOutcome,
  buildRuleOutcome,
  DEFAULT_ALLOW,
  evaluateDeclaredTag,
  evaluateFinding,
  type FindingEvaluation,
  type RuleOutcome,
} from './outcomes.ts';
import type { Restriction, TaggedData } from './restriction.ts';
import {
  addMonitored,
  applyApproval,
  buildRuleContext,
  type ConditionInputs,
  findRuleForCrossing,
  findRuleForTag,
  findStrictest,
  getBindingTable,
  memoizePerTag,
  type RuleContext,
  type RuleObserver,
  type RuleTable,
} from './rules.ts';

/** Input of an evaluation. It holds no text, so that a recorded decision can be evaluated again. */
export interface RuleEvaluationInput {
  readonly crossing: CrossingContext;
  readonly policy: Policy;
  readonly table: RuleTable;
  readonly contract: ContractMatch;
  readonly findings: readonly Finding[];
  /** Tags without a position in the content: declared tags and facts. */
  readonly declared: readonly Tag[];
  readonly coverage: Coverage;
  /** Restrictions by contracts, identities and capability tokens; empty if the content was not scanned in full. */
  readonly restrictions: readonly Restriction[];
  /** Outcome of the fields that a contract removes; `null` if it removes none. */
  readonly stripping: FieldStripping | null;
  /** The content as it is sent; absent if a recorded decision is evaluated. */
  readonly sent?: Content | undefined;
  /** Finds the recorded results for conditions on arguments. */
  readonly findRecordedResult?: ConditionInputs['findRecordedResult'];
  /** Evaluates conditions in CEL. Without it, rules with a condition restrict and never allow. */
  readonly conditions: ConditionEvaluator | null;
  /**
   * Returns what replaces these members if all that is in monitor mode were enforced: content that a contract removes
   * is not judged, and data that a rule redacts in a result violates no contract.
   */
  readonly buildEnforcedInput?: () => Pick<
    RuleEvaluationInput,
    'findings' | 'declared' | 'restrictions' | 'sent'
  >;
}

/** Outcome and enforcement mode of a contract that removes fields. */
export interface FieldStripping {
  readonly outcome: RuleOutcome;
  readonly enforcement: Restriction['enforcement'];
}

/** Result of an evaluation: the deciding outcome and everything that led to it. */
export interface RuleEvaluation {
  readonly winner: RuleOutcome;
  readonly evaluations: readonly FindingEvaluation[];
  /** The findings whose own action is `redact`. */
  readonly masked: readonly JudgedFinding[];
  /** Enforced restrictions; those in monitor mode are left out. */
  readonly restrictions: readonly Restriction[];
  readonly monitored: readonly MonitoredRule[];
  readonly enforced_result: DecisionResult | null;
  /** The context in which the rules were evaluated. */
  readonly context: RuleContext;
  /** Approval that would let the crossing continue; `null` if approval alone is not enough. */
  readonly approval: ApprovalRequirement | null;
}

/**
 * Evaluates all rules and restrictions. The strictest outcome wins, the first of equals. `onRule` is called for each
 * evaluated rule.
 */
export function evaluateRules(input: RuleEvaluationInput, onRule?: RuleObserver): RuleEvaluation {
  const monitored: MonitoredRule[] = [];
  const evaluation = evaluateWithApprovals(input, monitored, false, onRule);
  const enforcedResult =
    monitored.length === 0
      ? null
      : buildDecisionResult(
          evaluateWithApprovals({ ...input, ...input.buildEnforcedInput?.() }, [], true).winner,
        );
  return { ...evaluation, monitored, enforced_result: enforcedResult };
}

/** Limits the rule names in one approval request to what an approver can read. */
const APPROVAL_RULES_MAX = 32;

/**
 * Evaluates all rules and collects every rule that requires approval. One evaluation reveals only the first such
 * rule. Each revealed rule is treated as approved and the evaluation repeats until none requires approval. If that
 * ends in a block, no approval is requested.
 */
function evaluateWithApprovals(
  input: RuleEvaluationInput,
  monitored: MonitoredRule[],
  enforcesMonitored: boolean,
  onRule?: RuleObserver,
) {
  const first = evaluateOnce(input, monitored, enforcesMonitored, onRule);
  if (first.winner.action !== 'require_approval') return { ...first, approval: null };
  const approvedRules: string[] = [];
  let ttlMs = Number.POSITIVE_INFINITY;
  let minApprovals = 1;
  let requireSecondFactor: true | undefined;
  for (;;) {
    const crossing = { ...input.crossing, approved_rules: approvedRules };
    const next = evaluateOnce({ ...input, crossing }, [], enforcesMonitored);
    if (next.winner.action === 'block') return { ...next, approval: null };
    if (next.winner.action !== 'require_approval')
      return {
        ...first,
        approval: {
          ...{ rules: approvedRules, ttl_ms: ttlMs, min_approvals: minApprovals },
          ...(requireSecondFactor && { require_second_factor: requireSecondFactor }),
        },
      };
    if (approvedRules.length >= APPROVAL_RULES_MAX) return { ...first, approval: null };
    const terms = next.winner.approval ?? DEFAULT_APPROVAL;
    approvedRules.push(next.winner.rule);
    ttlMs = Math.min(ttlMs, terms.ttl_ms);
    minApprovals = Math.max(minApprovals, terms.min_approvals);
    if (terms.require_second_factor === true) requireSecondFactor = true;
  }
}

function evaluateOnce(
  input: RuleEvaluationInput,
  monitored: MonitoredRule[],
  enforcesMonitored: boolean,
  onRule?: RuleObserver,
) {
  const { crossing, policy, table, findings, declared, coverage } = input;
  const { approved_rules } = crossing;
  const accepted = crossing.memory?.tag ?? null;
  const restrictions = input.restrictions.filter((each) => isEnforced(each, enforcesMonitored, monitored));
  const stripping = input.stripping;
  const isStripping =
    stripping !== null &&
    isEnforced({ ...stripping.outcome, enforcement: stripping.enforcement }, enforcesMonitored, monitored);
  const detected = selectDetected(findings);
  const dataTags = () => collectTags(detected, declared);
  const inputs = {
    ...{ data_tags: dataTags, findings_count: detected.length, conditions: input.conditions },
    ...{ content: input.sent, findRecordedResult: input.findRecordedResult },
    is_undeclared: isUndeclared(crossing, input.contract),
  };
  const context = { ...buildRuleContext(crossing, inputs), enforces_monitored: enforcesMonitored };
  const crossingRule = findRuleForCrossing(table, context, monitored, onRule);
  const findRule = memoizePerTag((occurrence) =>
    findRuleForTag(table, occurrence, context, monitored, onRule),
  );
  const findBindingRule = memoizePerTag((occurrence) =>
    findRuleForTag(getBindingTable(table), occurrence, context, monitored, onRule),
  );
  const evaluations = findings.map((finding) =>
    applyResultMask(
      evaluateFinding(
        finding,
        policy,
        finding.allowed_by === undefined ? findRule : findBindingRule,
        crossing,
      ),
      findResultMask(input.contract, crossing, policy, finding.tags),
    ),
  );
  const masked = evaluations.map(({ finding }) => finding).filter(({ action }) => action === 'redact');
  const listOutcomes = (wantsDetected: boolean): RuleOutcome[] =>
    evaluations.flatMap(({ finding, outcome }) =>
      isDetected(finding) === wantsDetected ? (outcome ?? []) : [],
    );
  const maskedByDetectors = selectDetected(masked);
  const outcomes: RuleOutcome[] = [
    ...(coverage.status === 'full' ? [] : [buildCoverageOutcome(coverage)]),
    ...restrictions.map(({ action, rule, reason }) =>
      applyApproval({ action, rule, reason, fallback_template: null }, rule, approved_rules),
    ),
    ...(crossingRule === null ? [] : [buildRuleOutcome(crossingRule)]),
    ...listOutcomes(true),
    ...declared.flatMap((tag) =>
      evaluateDeclaredTag(tag, policy, findRule, maskedByDetectors, accepted, crossing),
    ),
    ...(isStripping ? [stripping.outcome] : []),
    // Last, because the first of equally strict outcomes decides: without a stricter one, the rules' own stays.
    ...listOutcomes(false),
  ];
  return { winner: findStrictest(outcomes) ?? DEFAULT_ALLOW, evaluations, masked, restrictions, context };
}

/** Applies the contract's mask to a finding. The finding is masked unless a rule is stricter. */
function applyResultMask(
  judged: FindingEvaluation,
  mask: Pick<RuleOutcome, 'rule' | 'reason'> | null,
): FindingEvaluation {
  if (mask === null) return judged;
  const masking: RuleOutcome = { action: 'redact', fallback_template: null, ...mask };
  const outcome = requirePlace(masking, judged.finding);
  if (judged.outcome !== null && findStrictest([judged.outcome, outcome]) === judged.outcome) return judged;
  return { finding: { ...judged.finding, action: outcome.action, rule: mask.rule }, outcome };
}

/** Returns whether a restriction is enforced. Records it in `monitored` if it is in monitor mode. */
function isEnforced(
  { rule, action, enforcement }: Pick<Restriction, 'rule' | 'action' | 'enforcement'>,
  enforcesMonitored: boolean,
  monitored: MonitoredRule[],
): boolean {
  if (enforcement === 'enforce' || enforcesMonitored) return true;
  addMonitored(monitored, { rule, action, tag: null });
  return false;
}

function buildDecisionResult({ action, rule }: RuleOutcome): DecisionResult {
  return { decision: DECISIONS_BY_ACTION[action], action, rule };
}

/** Decision for the action that wins. */
export const DECISIONS_BY_ACTION: Readonly<Record<Action, Decision>> = {
  allow: 'allow',
  flag: 'allow',
  redact: 'modify',
  require_approval: 'block',
  block: 'block',
};

/**
 * Returns the restrictions of contracts, identities and the capability token on an action. `contentRestrictions` are
 * the contract's restrictions on the content itself, in addition to those on its tags.
 */
export function findRestrictions(
  crossing: CrossingContext,
  policy: Policy,
  contract: ContractMatch,
  { tags: dataTags, findings }: TaggedData,
  contentRestrictions: readonly Restriction[],
): readonly Restriction[] {
  if (crossing.boundary !== 'action') return [];
  const tags = dataTags.filter((tag) => !isFactTag(tag));
  const identity = [
    ...findCapabilityRestrictions(crossing),
    ...findTaskRestrictions(crossing),
    ...findIdentityRestrictions(crossing, policy, { tags, findings }),
  ];
  return contract === null
    ? identity
    : [...identity, ...findContractRestrictions(contract, crossing, { tags, findings }, contentRestrictions)];
}

/**
 * Returns the tags and findings that contracts and identities check. A result is checked without the data that a rule
 * redacts; a call is checked with everything that its arguments carry.
 */
export function collectTaggedData(
  input: Omit<RuleEvaluationInput, 'restrictions' | 'stripping'>,
  heedsMonitored = false,
): TaggedData {
  const { crossing, findings, declared } = input;
  const isResult = crossing.boundary === 'action' && crossing.phase === 'response';
  if (!isResult || findings.length === 0) return { tags: collectTags(findings, declared), findings };
  const { evaluations } = evaluateOnce({ ...input, restrictions: [], stripping: null }, [], heedsMonitored);
  const kept = findings.filter((_finding, at) => evaluations[at]!.finding.action !== 'redact');
  return { tags: collectTags(kept, declared), findings: kept };
}

/** Returns declared and found tags, each once, sorted. */
export function collectTags(findings: readonly Finding[], declared: readonly Tag[]): readonly Tag[] {
  return [...new Set([...declared, ...findings.flatMap((finding) => finding.tags)])].sort();
}
