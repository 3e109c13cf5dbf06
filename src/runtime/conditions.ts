import { type Conditions, hasConditions } from '../core/conditions/facts.ts';
import type { Policy } from '../core/types.ts';

/**
 * What evaluates the conditions of a policy's rules; `null` where no rule has one, for only then is it loaded.
 * Rejects where it cannot be.
 */
export async function conditionsOf(policy: Policy): Promise<Conditions | null> {
  return hasConditions(policy) ? (await import('../core/conditions/cel.ts')).celConditions : null;
}
