import { accountsSection } from '../features/accounts/settings.ts';
import { intelligenceSection } from '../features/advisors/settings.ts';
import { alertsSection } from '../features/alerts/settings.ts';
import { approvalsSection } from '../features/approvals/settings.ts';
import { capabilityTokensSection } from '../features/capabilities/settings.ts';
import { costSection } from '../features/costs/settings.ts';
import { logExportSection } from '../features/log-export/settings.ts';
import { memorySection } from '../features/memory/settings.ts';
import type { AnyConfigSection } from '../runtime/config/sections.ts';

/** The sections of `service.yaml` that features have. Those after one section of the spine are in the order of the reference. */
export const featureSettings: readonly AnyConfigSection[] = [
  accountsSection,
  approvalsSection,
  memorySection,
  capabilityTokensSection,
  alertsSection,
  costSection,
  intelligenceSection,
  logExportSection,
];
