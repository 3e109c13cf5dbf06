import { advisorsFeature } from '../features/advisors/feature.ts';
import { alertsFeature } from '../features/alerts/feature.ts';
import { allowlistFeature } from '../features/allowlist/feature.ts';
import { apiKeysFeature } from '../features/api-keys/feature.ts';
import { complianceFeature } from '../features/compliance/feature.ts';
import { consoleFeature } from '../features/console/feature.ts';
import { costsFeature } from '../features/costs/feature.ts';
import { evidenceFeature } from '../features/evidence/feature.ts';
import { memoryFeature } from '../features/memory/feature.ts';
import { policyVersionsFeature } from '../features/policy-versions/feature.ts';
import { reportedDecisionsFeature } from '../features/reported-decisions/feature.ts';
import { secretsFeature } from '../features/secrets/feature.ts';
import { tenantsFeature } from '../features/tenants/feature.ts';
import { toolPinsFeature } from '../features/tool-pins/feature.ts';
import type { Feature } from '../operations/feature.ts';

/** All features. Nothing else in the service names one, except `feature-operations.ts`. */
export const features: readonly Feature[] = [
  advisorsFeature,
  alertsFeature,
  allowlistFeature,
  apiKeysFeature,
  complianceFeature,
  consoleFeature,
  costsFeature,
  evidenceFeature,
  memoryFeature,
  policyVersionsFeature,
  reportedDecisionsFeature,
  secretsFeature,
  tenantsFeature,
  toolPinsFeature,
];
