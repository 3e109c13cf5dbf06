import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';

/** Builds the audit event of a node that lost its lease, or got one again. */
export function buildFenceEvent(isFenced: boolean, nowMs: number, policyHash: string): AuditEvent {
  return buildServiceEvent({
    event_id: createEventId(nowMs),
    now_ms: nowMs,
    phase: 'cluster_fence',
    done: !isFenced,
    reason: isFenced
      ? 'The lease of this node ended, because the database did not answer in time.'
      : 'This node has a lease again.',
    caller_id: 'service:cluster',
    policy_hash: policyHash,
    metadata: {},
  });
}
