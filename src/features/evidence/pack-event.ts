import { recordPersonChange } from '../../operations/managed-change.ts';
import type { Context } from '../../operations/operation.ts';
import type { PackSummary } from './make-pack.ts';

/** Writes the audit event of a pack that was made. */
export async function recordPackMade(summary: PackSummary, context: Context): Promise<void> {
  const { window, tenant_id, framework, events, sha256, key_id } = summary;
  await recordPersonChange(
    {
      phase: 'evidence_pack',
      reason: 'An evidence pack of the audit log was made.',
      metadata: { since: window.since, until: window.until, framework, events, pack_sha256: sha256, key_id },
      ...(tenant_id !== null && { about: { tenant_id } }),
    },
    context,
  );
}
