import type { CrossingContext } from '../types/index.ts';
import type { Restriction } from './restriction.ts';

/**
 * What the capability token has against an action that was to be allowed by it. A token restricts and never allows:
 * one that fits leaves everything to the rules, as none does.
 */
export function findCapabilityRestrictions({
  capability,
}: Pick<CrossingContext, 'capability'>): readonly Restriction[] {
  const refusal = capability?.refusal ?? null;
  if (refusal === null) return [];
  const { rule, reason } = refusal;
  // That nobody could look at it is no fault of the agent's.
  const violation = rule.startsWith('fault.')
    ? null
    : ({ type: 'identity_violation', rule, severity: 'high', path: null, reason } as const);
  return [{ violation, rule, action: 'block', reason, enforcement: 'enforce' }];
}
