/** The feature's operations. */
export { tenantsCreate, tenantsList } from './operations.ts';
export {
  tenantPoliciesRollback,
  tenantPoliciesSave,
  tenantPoliciesShow,
  tenantPolicyDiff,
  tenantPolicyVersions,
} from './policy-operations.ts';
