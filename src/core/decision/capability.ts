import type { CrossingContext, ViolationType } from '../types/index.ts';
import type { Restriction } from './restriction.ts';

/**
 * Returns the restrictions that a capability token places on an action. A token restricts and never allows: a valid
 * token leaves the decision to the rules, as does no token.
 */
export function findCapabilityRestrictions({
  capability,
}: Pick<CrossingContext, 'capability'>): readonly Restriction[] {
  return buildRefusalRestrictions(capability?.refusal ?? null, 'identity_violation');
}

/**
 * Returns the restrictions that a task places on a call. It restricts and never allows, as a capability token does. A
 * call outside its task is not what the person requested, whatever the agent may do.
 */
export function findTaskRestrictions({
  phase,
  principal,
  task,
}: Pick<CrossingContext, 'phase' | 'principal' | 'task'>): readonly Restriction[] {
  if (phase !== 'request') return [];
  const isUnchecked = task === undefined && (principal?.task_id ?? null) !== null;
  return buildRefusalRestrictions(isUnchecked ? UNCHECKED_TASK : (task?.refusal ?? null), 'flow_violation');
}

/** A task that a call names is never skipped, such as where there is no store. */
const UNCHECKED_TASK = { rule: 'task.unknown', reason: 'The task of the call cannot be checked here.' };

function buildRefusalRestrictions(
  refusal: { readonly rule: string; readonly reason: string } | null,
  type: ViolationType,
): readonly Restriction[] {
  if (refusal === null) return [];
  const { rule, reason } = refusal;
  // A failed look-up is not a violation by the agent.
  const violation = rule.startsWith('fault.')
    ? null
    : ({ type, rule, severity: 'high', path: null, reason } as const);
  return [{ violation, rule, action: 'block', reason, enforcement: 'enforce' }];
}
