import type { ConditionEvaluator } from '../../policy/conditions/facts.ts';
import type { Policy } from '../../types/index.ts';
import { findAlternativeRemarks } from './alternatives.ts';
import { findArgumentRemarks } from './arguments.ts';
import { findNameRemarks, findTenantRemarks } from './names.ts';
import { findReachRemarks } from './reach.ts';
import type { LintRemark } from './remark.ts';
import { findSourceTagRemarks } from './source-tags.ts';

/** Input of `lintCompiledPolicy`. */
export interface LintInput {
  readonly policy: Policy;
  readonly conditions: ConditionEvaluator | null;
  /** Tenants for which users and keys may act; `null` if that is not restricted or if no users are configured. */
  readonly tenants: readonly string[] | null;
}

/** Returns all remarks on a compiled policy, ordered by kind and record. */
export function lintCompiledPolicy({ policy, conditions, tenants }: LintInput): readonly LintRemark[] {
  return [
    ...findReachRemarks(policy),
    ...findAlternativeRemarks(policy, conditions),
    ...findNameRemarks(policy),
    ...findArgumentRemarks(policy),
    ...findSourceTagRemarks(policy),
    ...findTenantRemarks(policy, tenants),
  ];
}
