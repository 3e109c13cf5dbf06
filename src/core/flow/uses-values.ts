import type { Policy } from '../types/index.ts';

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

const valueTenants = new WeakMap<Policy, ReadonlySet<string | null>>();
const NAMES_ORIGIN = /\borigin\s*\(/;
