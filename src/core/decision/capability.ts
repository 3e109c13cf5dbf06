import type { Envelope } from '../types/index.ts';
import type { Objection } from './objection.ts';

/**
 * What the capability token has against an action that was to be allowed by it. A token restricts and never allows:
 * one that fits leaves everything to the rules, as none does.
 */
export function capabilityObjections({ capability }: Pick<Envelope, 'capability'>): readonly Objection[] {
  const refusal = capability?.refusal ?? null;
  if (refusal === null) return [];
  const { rule, reason } = refusal;
  // That nobody could look at it is no fault of the agent's.
  const breach = rule.startsWith('fault.')
    ? null
    : ({ type: 'identity_violation', rule, severity: 'high', path: null, reason } as const);
  return [{ breach, rule, action: 'block', reason, enforcement: 'enforce' }];
}
