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

/** All features. Nothing else in the service names one: a feature is removed with its folder and its lines here. */
const list = [
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
] as const;

export const features: readonly Feature[] = list;

type OperationsOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
type FeatureOperations = OperationsOf<Awaited<ReturnType<(typeof list)[number]['loadOperations']>>>;

/** Loads the operations of all features, by the names of their constants. */
export async function loadFeatureOperations(): Promise<FeatureOperations> {
  return Object.assign({}, ...(await Promise.all(list.map((feature) => feature.loadOperations()))));
}
