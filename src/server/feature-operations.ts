/** All features' operations. A process that answers loads them, and the others load `features.ts` alone. */
export * from '../features/accounts/operation-list.ts';
export * from '../features/advisors/operation-list.ts';
export * from '../features/alerts/operation-list.ts';
export * from '../features/allowlist/operation-list.ts';
export * from '../features/api-keys/operation-list.ts';
export * from '../features/approvals/operation-list.ts';
export * from '../features/capabilities/operation-list.ts';
export * from '../features/compliance/operation-list.ts';
export * from '../features/console/operation-list.ts';
export * from '../features/costs/operation-list.ts';
export * from '../features/evidence/operation-list.ts';
export * from '../features/memory/operation-list.ts';
export * from '../features/policy-versions/operation-list.ts';
export * from '../features/reported-decisions/operation-list.ts';
export * from '../features/secrets/operation-list.ts';
export * from '../features/tenants/operation-list.ts';
export * from '../features/tool-pins/operation-list.ts';
