import type { ConditionEvaluator } from '../../policy/conditions/facts.ts';
import type { Policy } from '../../types/index.ts';
import { alternativeRemarks } from './alternatives.ts';
import { nameRemarks, tenantRemarks } from './names.ts';
import { reachRemarks } from './reach.ts';
import type { Remark } from './remark.ts';

/** What a policy is looked at with. */
export interface LintInput {
  readonly policy: Policy;
  readonly conditions: ConditionEvaluator | null;
  /** The tenants that users and keys may act for; `null` where that is not restricted, or nobody is configured. */
  readonly tenants: readonly string[] | null;
}

/** Everything that is to be said about a policy that compiles, in the order of its kinds and records. */
export function lint({ policy, conditions, tenants }: LintInput): readonly Remark[] {
  return [
    ...reachRemarks(policy),
    ...alternativeRemarks(policy, conditions),
    ...nameRemarks(policy),
    ...tenantRemarks(policy, tenants),
  ];
}
