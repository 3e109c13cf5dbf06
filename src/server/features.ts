import { accountsFeature } from '../features/accounts/feature.ts';
import { advisorsFeature } from '../features/advisors/feature.ts';
import { agentBlocksFeature } from '../features/agent-blocks/feature.ts';
import { alertsFeature } from '../features/alerts/feature.ts';
import { allowlistFeature } from '../features/allowlist/feature.ts';
import { apiKeysFeature } from '../features/api-keys/feature.ts';
import { approvalsFeature } from '../features/approvals/feature.ts';
import { capabilitiesFeature } from '../features/capabilities/feature.ts';
import { costsFeature } from '../features/costs/feature.ts';
import { evidenceFeature } from '../features/evidence/feature.ts';
import { logExportFeature } from '../features/log-export/feature.ts';
import { logShippingFeature } from '../features/log-shipping/feature.ts';
import { memoryFeature } from '../features/memory/feature.ts';
import { policyVersionsFeature } from '../features/policy-versions/feature.ts';
import { secretsFeature } from '../features/secrets/feature.ts';
import { tasksFeature } from '../features/tasks/feature.ts';
import { tenantsFeature } from '../features/tenants/feature.ts';
import { toolPinsFeature } from '../features/tool-pins/feature.ts';
import type { Feature } from '../operations/feature.ts';

/** All features that do more than answer operations. Only `feature-operations.ts`, `feature-settings.ts` and `entry/cli/feature-commands.ts` name features too. */
export const features: readonly Feature[] = [
  accountsFeature,
  advisorsFeature,
  agentBlocksFeature,
  alertsFeature,
  allowlistFeature,
  apiKeysFeature,
  approvalsFeature,
  capabilitiesFeature,
  costsFeature,
  evidenceFeature,
  logExportFeature,
  logShippingFeature,
  memoryFeature,
  policyVersionsFeature,
  secretsFeature,
  tasksFeature,
  tenantsFeature,
  toolPinsFeature,
];
