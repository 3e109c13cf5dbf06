import { createEventId } from '../../runtime/audit/event-id.ts';
import { hashContext } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { ApprovalStatus } from '../../runtime/enforcement/approval.ts';
import { type ApprovalRequestRow, parseListColumn } from './rows.ts';

/** An event of a request: a new status, or one approver's vote. */
export type ApprovalEventKind = ApprovalStatus | 'voted';

/** The caller that caused an event, with name and comment; both are `null` if the clock caused it. */
export interface ApprovalActor {
  readonly caller_id: string;
  readonly approver: string | null;
  readonly comment: string | null;
}

const REASONS: Readonly<Record<ApprovalEventKind, string>> = {
  pending: 'Approval was requested.',
  voted: 'One of several approvers approved the request.',
  approved: 'The request was approved.',
  denied: 'An approver denied the request.',
  expired: 'The request expired; it was not denied.',
  cancelled: 'The request was cancelled.',
  consumed: 'The approval was used.',
};

const GRANTS: readonly ApprovalEventKind[] = ['voted', 'approved', 'consumed'];

/** Builds the audit event for a request. It never contains the arguments. */
export function buildApprovalEvent(
  row: ApprovalRequestRow,
  happening: ApprovalEventKind,
  by: ApprovalActor,
  nowMs: number,
): AuditEvent {
  const action = GRANTS.includes(happening)
    ? 'allow'
    : happening === 'pending'
      ? 'require_approval'
      : 'block';
  const event: AuditEvent = {
    event_id: createEventId(nowMs),
    timestamp: new Date(nowMs).toISOString(),
    boundary: row.boundary as AuditEvent['boundary'],
    decision: action === 'allow' ? 'allow' : 'block',
    action,
    policy_name: row.rule,
    reason: REASONS[happening],
    data_tags: parseListColumn(row.data_tags),
    tenant_id: row.tenant_id,
    agent_id: row.agent_id,
    tool_name: row.tool_name,
    session_id: row.session_id,
    source_agent_id: row.source_agent_id,
    destination_agent_id: row.destination_agent_id,
    caller_id: by.caller_id,
    context_hash: '',
    policy_hash: row.policy_hash,
    coverage: 'full',
    metadata: {
      approval_request_id: row.request_id,
      approval_status: happening === 'voted' ? 'pending' : happening,
      ...(by.approver !== null && { approver: by.approver }),
      ...(by.comment !== null && { comment: by.comment }),
      ...(happening === 'approved' && row.grant_id !== null && { grant_id: row.grant_id }),
      phase: `approval_${happening}`,
      rules: parseListColumn(row.rules),
    },
  };
  return { ...event, context_hash: hashContext(event) };
}
