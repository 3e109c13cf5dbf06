import type { RuleEvaluation } from '../decision/evaluate-rules.ts';
import type { ConditionEvaluator } from '../policy/conditions/facts.ts';
import type { DecisionResult, MonitoredRule, Policy } from '../types/index.ts';
import { type Counterfactual, findCounterfactual } from './counterfactual.ts';
import { evaluateRecord, getDecisionResult } from './evaluate-record.ts';
import { type Evaluation, listEvaluations } from './evaluations.ts';
import {
  lacksDetectors,
  type RecordedEvent,
  readRecordedDecision,
  type UnreadableReason,
} from './recorded-decision.ts';
import { listUnevaluatedRules, type UnevaluatedRule } from './rule-trace.ts';

/** Evaluations and counterfactual that explain a decision. */
export interface Explanation {
  readonly replayed: DecisionResult;
  /** `true` if the replayed decision equals the recorded one. */
  readonly matches_record: boolean;
  readonly evaluations: readonly Evaluation[];
  readonly monitored: readonly MonitoredRule[];
  readonly enforced_result: DecisionResult | null;
  readonly not_evaluated: readonly UnevaluatedRule[];
  readonly not_evaluated_truncated: number;
  /** Smallest change that would have allowed the crossing unchanged; `null` if it was. */
  readonly counterfactual: Counterfactual | null;
}

/** Explains a recorded decision by its policy. Evaluates all rules again, with the code that judged. */
export function explainDecision(
  event: RecordedEvent,
  decidedMs: number,
  policy: Policy,
  conditions: ConditionEvaluator | null = null,
): Explanation | UnreadableReason {
  const record = readRecordedDecision(event, decidedMs, conditions);
  if (typeof record === 'string') return record;
  if (lacksDetectors(record, policy)) return 'incomplete';
  const evaluation = evaluateRecord(record, policy);
  const replayed = getDecisionResult(evaluation);
  const { rules, truncated } = listUnevaluatedRules(record, policy);
  const evaluations = listEvaluations(record, policy, evaluation);
  return {
    replayed,
    matches_record:
      replayed.decision === event.decision &&
      replayed.action === event.action &&
      replayed.rule === event.policy_name,
    evaluations,
    monitored: evaluation.monitored,
    enforced_result: removesFieldsInMonitorMode(evaluation)
      ? record.enforced_result
      : evaluation.enforced_result,
    not_evaluated: rules,
    not_evaluated_truncated: truncated,
    counterfactual: replayed.decision === 'allow' ? null : findCounterfactual(record, policy),
  };
}

/**
 * Returns whether a contract in monitor mode would have removed fields. The record does not say which findings were in
 * those fields, so what would then have been decided is read from the record.
 */
function removesFieldsInMonitorMode({ monitored }: RuleEvaluation): boolean {
  return monitored.some(({ rule, action }) => action === 'redact' && FIELD_RULES.includes(rule));
}

const FIELD_RULES = ['contract.accepts.fields', 'contract.emits.fields'];
