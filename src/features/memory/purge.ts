import type { Store } from '../../platform/store/index.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { PURGE_BATCH_ROWS, purgeBatch } from './rows.ts';

/** Deletes all expired entries and returns their number. */
export async function purgeExpiredEntries(store: Store, nowMs: number): Promise<number> {
  let purged = 0;
  for (let batch = PURGE_BATCH_ROWS; batch === PURGE_BATCH_ROWS; purged += batch)
    batch = await purgeBatch(store, nowMs);
  return purged;
}

/** Builds the audit event of a purge. */
export function buildPurgeEvent(
  { now_ms, new_event_id, policy }: Pick<EnforcementPorts, 'now_ms' | 'new_event_id' | 'policy'>,
  purgedCount: number,
  trigger: 'manual' | 'schedule',
  callerId: string,
): AuditEvent {
  return buildServiceEvent({
    event_id: new_event_id(now_ms()),
    now_ms: now_ms(),
    boundary: 'memory',
    phase: 'retention_purge',
    done: true,
    reason: 'Expired entries of memory were deleted.',
    caller_id: callerId,
    policy_hash: policy.hash,
    metadata: { purged_count: purgedCount, trigger },
  });
}
