/** The operations of the feature. */
export { tenantsCreate, tenantsList } from './operations.ts';
export {
  tenantPoliciesRollback,
  tenantPoliciesSave,
  tenantPoliciesShow,
  tenantPolicyDiff,
  tenantPolicyVersions,
} from './policy-operations.ts';
