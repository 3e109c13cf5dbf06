import type { OperatorChange } from '../../operations/managed-change.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import type { AllowedDetectorRow } from './detector-store.ts';

/** Builds the audit event for changed entries in one scope: who allowed which detectors, and why. */
export function buildDetectorEvent(
  phase: string,
  reason: string,
  rows: readonly [AllowedDetectorRow, ...AllowedDetectorRow[]],
): OperatorChange {
  const { tool, agent_id, tenant_id, reason: note, created_by, expires_ms } = rows[0];
  return {
    phase,
    reason,
    metadata: {
      created_by,
      entry_detectors: rows.map(({ rule_id }) => rule_id),
      entry_ids: rows.map(({ id }) => id),
      expires_at: formatTime(expires_ms),
      note,
    },
    about: {
      ...(tool !== '' && { tool_name: tool }),
      ...(agent_id !== '' && { agent_id }),
      ...(tenant_id !== '' && { tenant_id }),
    },
  };
}
