import { type ConditionEvaluator, hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Policy } from '../../core/types/index.ts';

/**
 * What evaluates the conditions of a policy's rules; `null` where no rule has one, for only then is it loaded.
 * Rejects where it cannot be.
 */
export async function loadConditions(policy: Policy): Promise<ConditionEvaluator | null> {
  return hasConditions(policy) ? (await import('../../core/policy/conditions/cel.ts')).celEvaluator : null;
}
