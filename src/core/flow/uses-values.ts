import { memoize } from '../memoize.ts';
import type { Policy } from '../types/index.ts';
import { USER_SOURCE } from './labels.ts';

/** Returns whether a contract or a rule that applies to the tenant depends on where values come from. */
export function usesValues(policy: Policy, tenantId: string): boolean {
  const tenants = listFlowTenants(policy);
  return tenants.size > 0 && (tenants.has(null) || tenants.has(tenantId));
}

const listFlowTenants = memoize(
  ({ contracts, rules, taint_rules }: Policy): ReadonlySet<string | null> =>
    new Set(
      [
        ...contracts.filter(({ flow }) => flow !== undefined),
        ...[...rules, ...taint_rules].filter(({ reads }) => reads?.names_origin === true),
      ].map((each) => each.tenant_id),
    ),
);

/** Returns whether a contract permits values of a source that the person named. */
export const usesSources = memoize((policy: Policy): boolean =>
  policy.contracts.some(({ flow }) =>
    [flow?.others, ...Object.values(flow?.arguments ?? {})].some(
      (terms) => terms?.any_of.includes(USER_SOURCE) === true,
    ),
  ),
);
