import { alertMigrations } from '../features/alerts/tables.ts';
import { allowlistMigrations } from '../features/allowlist/tables.ts';
import { apiKeyMigrations } from '../features/api-keys/tables.ts';
import { costMigrations } from '../features/costs/tables.ts';
import { evidenceMigrations } from '../features/evidence/tables.ts';
import { memoryMigrations } from '../features/memory/tables.ts';
import { policyVersionMigrations } from '../features/policy-versions/tables.ts';
import { tenantMigrations } from '../features/tenants/tables.ts';
import { toolPinMigrations } from '../features/tool-pins/tables.ts';
import { outboxMigrations } from '../platform/outbox/tables.ts';
import type { Migrations } from '../platform/store/index.ts';
import { accountMigrations } from '../runtime/accounts/tables.ts';
import { agentBlockMigrations } from '../runtime/enforcement/agent-blocks/tables.ts';
import { approvalMigrations } from '../runtime/enforcement/approvals/tables.ts';
import { capabilityMigrations } from '../runtime/enforcement/capabilities/tables.ts';
import { sessionMigrations } from '../runtime/enforcement/sessions/tables.ts';
import { managedRevisionMigrations } from '../runtime/managed-policy/tables.ts';

/**
 * All migrations of all versions, ordered by name. A published migration is never edited; a later one corrects
 * it.
 */
export const MIGRATIONS: Migrations = {
  ...agentBlockMigrations,
  ...alertMigrations,
  ...allowlistMigrations,
  ...apiKeyMigrations,
  ...approvalMigrations,
  ...capabilityMigrations,
  ...costMigrations,
  ...evidenceMigrations,
  ...toolPinMigrations,
  ...managedRevisionMigrations,
  ...memoryMigrations,
  ...policyVersionMigrations,
  ...outboxMigrations,
  ...sessionMigrations,
  ...accountMigrations,
  ...tenantMigrations,
};
