import type { ConditionEvaluator } from '../../policy/conditions/facts.ts';
import type { Policy } from '../../types/index.ts';
import { findAlternativeRemarks } from './alternatives.ts';
import { findNameRemarks, findTenantRemarks } from './names.ts';
import { findReachRemarks } from './reach.ts';
import type { LintRemark } from './remark.ts';

/** What a policy is looked at with. */
export interface LintInput {
  readonly policy: Policy;
  readonly conditions: ConditionEvaluator | null;
  /** The tenants that users and keys may act for; `null` where that is not restricted, or nobody is configured. */
  readonly tenants: readonly string[] | null;
}

/** Everything that is to be said about a policy that compiles, in the order of its kinds and records. */
export function lintCompiledPolicy({ policy, conditions, tenants }: LintInput): readonly LintRemark[] {
  return [
    ...findReachRemarks(policy),
    ...findAlternativeRemarks(policy, conditions),
    ...findNameRemarks(policy),
    ...findTenantRemarks(policy, tenants),
  ];
}
