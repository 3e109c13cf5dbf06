import type { RequestSubject } from '../../operations/subject.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { formatTime, hashContext, REPORTED_BY_SDK, sortMetadata } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { listPrincipalFields } from '../../runtime/enforcement/audit-event.ts';
import type { ReportedEvent } from './shape.ts';

/** A decision may be this old when it arrives, in milliseconds. A spool survives a long weekend. */
const AGE_MS_MAX = 7 * 24 * 3_600_000;
/** The clock of a program may be ahead by this, in milliseconds. */
const AHEAD_MS_MAX = 300_000;
const REASON = 'A program decided this with a local guard and reported it.';

/**
 * Builds the audit event of a reported decision. The caller, the tenant and the reason are those of the service. The
 * metadata names the SDK as the source and the time of arrival, so that no reader takes the event for a decision of the
 * service. A time that the service cannot believe is replaced with its own and kept as `reported_timestamp`.
 */
export function buildReportedEvent(
  reported: ReportedEvent,
  subject: RequestSubject,
  caller: Caller,
  nowMs: number,
): AuditEvent {
  const reportedMs = Date.parse(reported.timestamp);
  const isBelieved = reportedMs <= nowMs + AHEAD_MS_MAX && reportedMs >= nowMs - AGE_MS_MAX;
  const now = formatTime(nowMs);
  const event: AuditEvent = {
    event_id: reported.event_id,
    timestamp: isBelieved ? reported.timestamp : now,
    boundary: reported.boundary,
    decision: reported.decision,
    action: reported.action,
    policy_name: reported.policy_name,
    reason: REASON,
    data_tags: reported.data_tags ?? [],
    tenant_id: subject.tenant_id,
    agent_id: subject.agent_id,
    tool_name: reported.tool_name ?? null,
    session_id: reported.session_id ?? null,
    source_agent_id: subject.source_agent_id,
    destination_agent_id: reported.destination_agent_id ?? null,
    caller_id: caller.id,
    ...(subject.principal !== undefined && listPrincipalFields(subject.principal)),
    context_hash: '',
    policy_hash: reported.policy_hash,
    coverage: reported.coverage,
    metadata: sortMetadata({
      ...(reported.metadata as AuditEvent['metadata']),
      reported_at: now,
      reported_by: REPORTED_BY_SDK,
      ...(!isBelieved && { reported_timestamp: reported.timestamp }),
    }),
  };
  return { ...event, context_hash: hashContext(event) };
}
