import { createDeliveryId, enqueueMessages } from '../../platform/outbox/messages.ts';
import type { ApprovalStatus } from '../../runtime/enforcement/approval.ts';
import { type ApprovalActor, type ApprovalEventKind, buildApprovalEvent } from './events.ts';
import { isTransitionAllowed } from './lifecycle.ts';
import { APPROVAL_QUEUE } from './outbox.ts';
import type { ApprovalsParts } from './parts.ts';
import { RecordingFailure } from './recording-failure.ts';
import {
  type ApprovalRequestRow,
  describeShownAction,
  formatIsoTime,
  type StoreTransaction,
  summarizeRequest,
} from './rows.ts';

/** The actor of events that expiry causes. */
export const CLOCK_ACTOR: ApprovalActor = { caller_id: 'service:clock', approver: null, comment: null };

/**
 * Changes the status of a locked request, if the transition table allows it. The order is: rows, event, commit.
 * The store never holds a change that the journal lacks: an event that cannot be written rolls the rows back,
 * and a commit that fails leaves an event of a change that did not happen and grants nothing. The event comes
 * last before the commit, because a conflict repeats everything before it.
 */
export async function transitionRequest(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  to: ApprovalStatus,
  by: ApprovalActor,
  parts: ApprovalsParts,
  extra: Partial<Pick<ApprovalRequestRow, 'grant_id'>> = {},
): Promise<ApprovalRequestRow> {
  if (!isTransitionAllowed(row.status, to))
    throw new Error(`a request does not go from ${row.status} to ${to}`);
  const nowMs = parts.now_ms();
  const isDecided = to === 'approved' || to === 'denied' || to === 'cancelled';
  const changes = {
    ...extra,
    status: to,
    pending_key: null,
    ...(isDecided && { decided_by: by.caller_id, decided_ms: nowMs }),
    ...(to === 'consumed' && { consumed_ms: nowMs }),
  };
  const changed = await trx
    .updateTable('approval_requests')
    .set(changes)
    .where('request_id', '=', row.request_id)
    .where('status', '=', row.status)
    .executeTakeFirst();
  if (changed.numUpdatedRows !== 1n) throw new Error('a locked request was changed by another');
  const next = { ...row, ...changes };
  await emitApprovalEvent(trx, next, to, by, parts);
  return next;
}

/** Queues the webhook message, then writes the event. */
export async function emitApprovalEvent(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  happening: ApprovalEventKind,
  by: ApprovalActor,
  parts: ApprovalsParts,
): Promise<void> {
  const nowMs = parts.now_ms();
  if (parts.has_webhook) await enqueueNotice(trx, row, happening, nowMs, parts);
  try {
    await parts.record(buildApprovalEvent(row, happening, by, nowMs));
  } catch (fault) {
    throw new RecordingFailure(fault);
  }
}

async function enqueueNotice(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  happening: ApprovalEventKind,
  nowMs: number,
  { reportFault, links }: ApprovalsParts,
): Promise<void> {
  const message = {
    delivery_id: createDeliveryId(nowMs, 'msg'),
    queue: APPROVAL_QUEUE,
    subject_id: row.request_id,
    kind: happening,
    order_key: null,
    body: JSON.stringify(getMessage(row, happening, nowMs, links)),
    not_before_ms: nowMs,
  };
  const refused = await enqueueMessages(trx, [message], nowMs);
  if (refused > 0)
    reportFault(
      'the webhook of approvals does not take its messages; new ones are dead letters until it does',
    );
}

/** Builds the webhook message: who requests what, and by which rule. The first one shows the call, with masks. */
function getMessage(
  row: ApprovalRequestRow,
  happening: ApprovalEventKind,
  nowMs: number,
  links: ApprovalsParts['links'],
): object {
  const url = happening === 'pending' ? links?.build(row.request_id, row.expires_ms) : undefined;
  const shown = happening === 'pending' ? describeShownAction(row) : {};
  const data = { ...summarizeRequest(row), ...shown, ...(url !== undefined && { url }) };
  return { type: `approval.${happening}`, timestamp: formatIsoTime(nowMs), data };
}
