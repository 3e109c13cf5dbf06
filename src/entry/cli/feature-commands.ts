import { advisorCommands } from '../../features/advisors/command-list.ts';
import { alertCommands } from '../../features/alerts/command-list.ts';
import { allowlistCommands } from '../../features/allowlist/command-list.ts';
import { approvalCommands } from '../../features/approvals/command-list.ts';
import { capabilityCommands } from '../../features/capabilities/command-list.ts';
import { complianceCommands } from '../../features/compliance/command-list.ts';
import { consoleCommands } from '../../features/console/command-list.ts';
import { costCommands } from '../../features/costs/command-list.ts';
import { evidenceCommands } from '../../features/evidence/command-list.ts';
import { logShippingCommands } from '../../features/log-shipping/command-list.ts';
import { policyVersionCommands } from '../../features/policy-versions/command-list.ts';
import { qualityCommands } from '../../features/quality/command-list.ts';
import { secretCommands } from '../../features/secrets/command-list.ts';
import { taskCommands } from '../../features/tasks/command-list.ts';
import { toolPinCommands } from '../../features/tool-pins/command-list.ts';
import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** All features' commands. */
export const featureCommands: readonly FeatureCommands[] = [
  advisorCommands,
  alertCommands,
  allowlistCommands,
  approvalCommands,
  capabilityCommands,
  complianceCommands,
  consoleCommands,
  costCommands,
  evidenceCommands,
  logShippingCommands,
  policyVersionCommands,
  qualityCommands,
  secretCommands,
  taskCommands,
  toolPinCommands,
];
