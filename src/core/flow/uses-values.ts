import { memoize } from '../memoize.ts';
import type { Policy } from '../types/index.ts';
import { USER_SOURCE } from './labels.ts';

/** Returns whether a contract or a rule that applies to the tenant depends on where values come from. */
export function usesValues(policy: Policy, tenantId: string): boolean {
  let tenants = valueTenants.get(policy);
  if (tenants === undefined) {
    const contracts = policy.contracts.filter(({ flow }) => flow !== undefined);
    const rules = policy.rules.filter(({ when }) => when !== null && NAMES_ORIGIN.test(when));
    tenants = new Set([...contracts, ...rules].map((each) => each.tenant_id));
    valueTenants.set(policy, tenants);
  }
  return tenants.size > 0 && (tenants.has(null) || tenants.has(tenantId));
}

/** Returns whether a contract permits values of a source that the person named. */
export const usesSources = memoize((policy: Policy): boolean =>
  policy.contracts.some(({ flow }) =>
    [flow?.others, ...Object.values(flow?.arguments ?? {})].some(
      (terms) => terms?.any_of.includes(USER_SOURCE) === true,
    ),
  ),
);

const valueTenants = new WeakMap<Policy, ReadonlySet<string | null>>();
const NAMES_ORIGIN = /\borigin\s*\(/;
