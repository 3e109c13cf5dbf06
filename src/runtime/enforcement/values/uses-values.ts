import type { Policy } from '../../../core/types/index.ts';

/** Returns whether a contract that applies to a tenant depends on where values come from. */
export function usesValues(policy: Policy, tenantId: string): boolean {
  return policy.contracts.some(
    (contract) => 'flow' in contract && (contract.tenant_id === null || contract.tenant_id === tenantId),
  );
}
