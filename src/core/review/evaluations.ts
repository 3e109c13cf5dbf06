import { isDetected, requirePlace, selectDetected } from '../decision/classifier-findings.ts';
import type { RuleEvaluation } from '../decision/evaluate-rules.ts';
import {
  buildDefaultOutcome,
  buildRuleOutcome,
  DEFAULT_ALLOW,
  evaluateDeclaredTag,
} from '../decision/outcomes.ts';
import { findRuleForTag, type TagOccurrence } from '../decision/rules.ts';
import { isFactTag } from '../tags.ts';
import type { Action, Finding, Policy, Severity, Tag } from '../types/index.ts';
import { buildEvaluationInput, buildRecordContext, getRecordRuleTable } from './evaluate-record.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { type RuleTraceEntry, traceRules } from './rule-trace.ts';

/** One tag or check that was evaluated for a decision. */
export interface Evaluation {
  /** Subject of the evaluation: a tag, the crossing itself, a contract, an identity, or the coverage of the scan. */
  readonly subject: 'crossing' | 'tag' | 'contract' | 'identity' | 'coverage';
  /** Set only for a tag. */
  readonly tag: Tag | null;
  /** `found` by a detector, `classified` by a classifier of the operator. */
  readonly origin: 'found' | 'classified' | 'declared' | 'fact' | null;
  /** Severity from the detector; `null` for a tag that was not found. */
  readonly severity: Severity | null;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  /** `true` if this action decided. */
  readonly decisive: boolean;
  readonly rule_trace: readonly RuleTraceEntry[];
  /** Number of further rules that the trace leaves out. */
  readonly rule_trace_truncated: number;
}

type UndecidedEvaluation = Omit<Evaluation, 'decisive'>;

/** Lists every evaluated tag and check. Of equally strict ones, the first decides. */
export function listEvaluations(
  record: RecordedDecision,
  policy: Policy,
  evaluation: RuleEvaluation,
): readonly Evaluation[] {
  const evaluated = [
    ...evaluateCoverage(record),
    ...evaluateRestrictions(record, evaluation),
    ...evaluateCrossing(record, policy),
    ...evaluateFindings(record, policy),
    ...evaluateDeclaredTags(record, policy, evaluation),
    ...evaluateStripping(record, policy),
  ];
  const { winner } = evaluation;
  const evaluations = evaluated.map((each) => ({
    ...each,
    decisive: each.action === winner.action && each.rule === winner.rule,
  }));
  if (evaluations.length === 0 || winner === DEFAULT_ALLOW || evaluations.some(({ decisive }) => decisive))
    return evaluations;
  // The rule blocks whether the approval is granted or not.
  const reason = `${winner.reason} No approval would change that.`;
  return [
    ...evaluations,
    { ...NO_TRACE, subject: 'crossing', ...pickResult({ ...winner, reason }), decisive: true },
  ];
}

const NO_TRACE = {
  tag: null,
  origin: null,
  severity: null,
  rule_trace: [],
  rule_trace_truncated: 0,
} as const;

function evaluateCoverage({ coverage }: RecordedDecision): UndecidedEvaluation[] {
  if (coverage.status === 'full') return [];
  const { reason } = coverage;
  return [{ ...NO_TRACE, subject: 'coverage', action: 'block', rule: 'coverage.exceeded', reason }];
}

function evaluateRestrictions(
  { crossing }: RecordedDecision,
  { restrictions }: RuleEvaluation,
): UndecidedEvaluation[] {
  return restrictions.map(({ rule, action, reason }) => {
    const isGranted = action === 'require_approval' && crossing.approved_rules?.includes(rule);
    const subject = rule.startsWith('identity.') ? ('identity' as const) : ('contract' as const);
    return { ...NO_TRACE, subject, rule, reason, action: isGranted ? ('flag' as const) : action };
  });
}

function evaluateCrossing(record: RecordedDecision, policy: Policy): UndecidedEvaluation[] {
  const { deciding_rule, entries, truncated } = traceRules(record, policy, null);
  if (entries.length === 0) return [];
  const request = {
    ...NO_TRACE,
    subject: 'crossing',
    rule_trace: entries,
    rule_trace_truncated: truncated,
  } as const;
  if (deciding_rule !== null) return [{ ...request, ...pickResult(buildRuleOutcome(deciding_rule)) }];
  return [
    {
      ...request,
      action: 'allow',
      rule: 'default.allow',
      reason: 'No rule about the call or message itself matches.',
    },
  ];
}

function pickResult({ action, rule, reason }: Pick<UndecidedEvaluation, 'action' | 'rule' | 'reason'>) {
  return { action, rule, reason };
}

/** Evaluates each combination of tag, severity and origin once, regardless of the number of findings. */
function evaluateFindings(record: RecordedDecision, policy: Policy): UndecidedEvaluation[] {
  const seen = new Map<string, { tag: Tag; finding: Finding }>();
  for (const finding of record.findings)
    for (const tag of finding.tags)
      seen.set(`${finding.severity} ${tag} ${finding.source} ${finding.is_whole}`, { tag, finding });
  return [...seen.values()].map(({ tag, finding }) => {
    const evaluation = evaluateTag(record, policy, { tag, ...finding });
    const origin = isDetected(finding) ? 'found' : 'classified';
    return { ...requirePlace(evaluation, finding), origin };
  });
}

function evaluateTag(record: RecordedDecision, policy: Policy, tagged: TagOccurrence): UndecidedEvaluation {
  const { tag, severity } = tagged;
  const { deciding_rule, entries, truncated } = traceRules(record, policy, tagged);
  const request = {
    subject: 'tag',
    tag,
    severity,
    origin: 'found',
    rule_trace: entries,
    rule_trace_truncated: truncated,
  } as const;
  if (deciding_rule !== null) return { ...request, ...pickResult(buildRuleOutcome(deciding_rule)) };
  if (isFactTag(tag)) return { ...request, action: 'allow', rule: 'default.allow', reason: NO_RULE };
  return { ...request, ...pickResult(buildDefaultOutcome(tag, policy, record.crossing)) };
}

const NO_RULE = 'It is a fact, and no rule names it.';

function evaluateDeclaredTags(
  record: RecordedDecision,
  policy: Policy,
  { masked }: RuleEvaluation,
): UndecidedEvaluation[] {
  const { crossing, declared } = record;
  const table = getRecordRuleTable(record, policy);
  const circumstances = buildRecordContext(record, policy);
  return declared.map((tag) => {
    const ruleFor = () => findRuleForTag(table, { tag, severity: null }, circumstances, []);
    const [outcome] = evaluateDeclaredTag(tag, policy, ruleFor, selectDetected(masked), null, crossing);
    const origin = crossing.declared_tags.includes(tag) ? ('declared' as const) : ('fact' as const);
    const evaluation = { ...evaluateTag(record, policy, { tag, severity: null }), origin };
    return outcome === undefined ? evaluation : { ...evaluation, ...pickResult(outcome) };
  });
}

function evaluateStripping(record: RecordedDecision, policy: Policy): UndecidedEvaluation[] {
  const { stripping } = buildEvaluationInput(record, policy);
  if (stripping === null || stripping.enforcement === 'monitor') return [];
  return [{ ...NO_TRACE, subject: 'contract', ...pickResult(stripping.outcome) }];
}
