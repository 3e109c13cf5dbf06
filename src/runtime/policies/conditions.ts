import { type ConditionEvaluator, hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Policy } from '../../core/types/index.ts';

/**
 * Loads the evaluator of rule conditions. Returns `null`, without loading it, if no rule has a condition.
 * Rejects if the evaluator cannot be loaded.
 */
export async function loadConditions(policy: Policy): Promise<ConditionEvaluator | null> {
  return hasConditions(policy) ? (await import('../../core/policy/conditions/cel.ts')).celEvaluator : null;
}
