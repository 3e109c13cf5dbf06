import type { CrossingContext } from '../types/index.ts';
import type { Restriction } from './restriction.ts';

/**
 * Returns the restrictions that a capability token places on an action. A token restricts and never allows: a valid
 * token leaves the decision to the rules, as does no token.
 */
export function findCapabilityRestrictions({
  capability,
}: Pick<CrossingContext, 'capability'>): readonly Restriction[] {
  const refusal = capability?.refusal ?? null;
  if (refusal === null) return [];
  const { rule, reason } = refusal;
  // A failed token lookup is not a violation by the agent.
  const violation = rule.startsWith('fault.')
    ? null
    : ({ type: 'identity_violation', rule, severity: 'high', path: null, reason } as const);
  return [{ violation, rule, action: 'block', reason, enforcement: 'enforce' }];
}
