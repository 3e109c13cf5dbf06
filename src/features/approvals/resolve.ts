import type { ApprovalRequirement, Verdict } from '../../core/types/index.ts';
import { StoreFailure } from '../../platform/store/index.ts';
import type {
  ApprovalQuestion,
  ApprovalResolution,
  ApprovalState,
  ApprovalStatus,
} from '../../runtime/enforcement/approval.ts';
import type { ApprovalsParts } from './parts.ts';
import { RecordingFailure } from './recording-failure.ts';
import {
  type ApprovalUse,
  checkApproval,
  consumeApproval,
  findAnsweredRequest,
  isCovered,
  requestApproval,
} from './requests.ts';
import type { ApprovalRequestRow } from './rows.ts';
import { useGrant } from './use-grant.ts';

/**
 * Resolves a verdict that requires approval. Without a request id, a grant that covers the call is used; if there is
 * none, approval is requested and the verdict stays a block. With the id of an approved request that matches, the
 * approval is used and the crossing is judged again without the approved rules. Never rejects: a failure is a block.
 */
export async function resolveApproval(
  settling: ApprovalQuestion,
  parts: ApprovalsParts,
): Promise<ApprovalResolution> {
  const { judged } = settling;
  const wanted = judged.approval;
  if (wanted === null)
    return buildBlockedVerdict(judged, 'More rules ask for approval than one request can name.', null);
  try {
    const approvalRequestId = await findRequestId(wanted, settling, parts);
    if (approvalRequestId !== null) return await useApproval(approvalRequestId, wanted, settling, parts);
    const granted = await useGrant(wanted, settling, parts);
    return granted ?? (await createRequest(wanted, settling, parts));
  } catch (fault) {
    parts.reportFault('approvals cannot be settled, and what needs them is blocked', fault);
    return { verdict: buildApprovalFaultVerdict(judged, fault), approval: null };
  }
}

/** Returns the request to use: the named one, or one that was answered for exactly this crossing. */
async function findRequestId(
  wanted: ApprovalRequirement,
  { approval_request_id, reuse_approval, crossing }: ApprovalQuestion,
  parts: ApprovalsParts,
): Promise<string | null> {
  if (reuse_approval !== true) return approval_request_id;
  if (approval_request_id !== null) {
    const fit = await checkApproval(approval_request_id, crossing, parts);
    if (fit.row !== null) return approval_request_id;
  }
  return findAnsweredRequest(wanted, crossing, parts);
}

async function createRequest(
  wanted: ApprovalRequirement,
  { judged, crossing, caller }: ApprovalQuestion,
  parts: ApprovalsParts,
): Promise<ApprovalResolution> {
  const requested = await requestApproval(wanted, judged, crossing, caller, parts);
  if (requested.is_stored) return { verdict: judged, approval: getState(requested.row) };
  return buildBlockedVerdict(judged, LIMITS[requested.limit], null);
}

const LIMITS = {
  pending_max: 'Approval is needed, and too many requests wait for people already (`approvals.pending_max`).',
  pending_per_agent_max:
    'Approval is needed, and too many requests of this agent wait for people already (`approvals.pending_per_agent_max`).',
} as const;

async function useApproval(
  requestId: string,
  wanted: ApprovalRequirement,
  { judged, crossing, caller, judgeWith }: ApprovalQuestion,
  parts: ApprovalsParts,
): Promise<ApprovalResolution> {
  const fit = await checkApproval(requestId, crossing, parts);
  if (!fit.used) return buildRefusedVerdict(judged, requestId, fit);
  if (!isCovered(wanted, fit.row)) {
    const reason =
      'The approval does not cover all rules or approvers that the call needs now. Call again without `approval_request_id`.';
    return buildBlockedVerdict(judged, reason, {
      request_id: requestId,
      status: 'mismatch',
      expires_at: null,
    });
  }
  const verdict = judgeWith(wanted.rules);
  // A crossing that another rule blocks does not use the approval.
  if (verdict.decision === 'block') return { verdict, approval: getState(fit.row) };
  const used = await consumeApproval(requestId, caller, parts);
  return used.used
    ? { verdict, approval: getState(used.row), approved_rules: wanted.rules }
    : buildRefusedVerdict(judged, requestId, used);
}

function buildRefusedVerdict(
  judged: Verdict,
  requestId: string,
  used: Extract<ApprovalUse, { used: false }>,
): ApprovalResolution {
  if (used.row === null) {
    const status = used.cause === 'mismatch' ? 'mismatch' : 'not_found';
    const reason =
      used.cause === 'mismatch'
        ? `The approval is for another ${used.what}. Call again without \`approval_request_id\`.`
        : 'There is no such approval request. Call again without `approval_request_id`.';
    return buildBlockedVerdict(judged, reason, { request_id: requestId, status, expires_at: null });
  }
  return buildBlockedVerdict(judged, CAUSES[used.row.status], getState(used.row));
}

const CAUSES: Readonly<Record<ApprovalStatus, string>> = {
  pending: 'The request still waits for an approver.',
  approved: 'The approval could not be used: try again.',
  denied: 'An approver denied the request.',
  expired: 'The request expired; it was not denied. Call again without `approval_request_id`.',
  cancelled: 'The request was cancelled. Call again without `approval_request_id`.',
  consumed:
    'The approval was used before, and is good for one call. Ask again without `approval_request_id`.',
};

function getState({ request_id, status, expires_ms }: ApprovalRequestRow): ApprovalState {
  return { request_id, status, expires_at: new Date(expires_ms).toISOString() };
}

function buildBlockedVerdict(
  judged: Verdict,
  reason: string,
  approval: ApprovalState | null,
): ApprovalResolution {
  return { verdict: { ...judged, reason }, approval };
}

/** Returns a block that keeps the findings, so that the event can record them. */
function buildApprovalFaultVerdict(judged: Verdict, fault: unknown): Verdict {
  const rule =
    fault instanceof StoreFailure
      ? 'fault.store'
      : fault instanceof RecordingFailure
        ? 'fault.audit'
        : 'fault.internal';
  return { ...judged, action: 'block', rule, reason: FAULTS[rule], fault: true };
}

const FAULTS = {
  'fault.store':
    'Approval is needed, and the store that holds approvals cannot be used at the moment, so it blocks.',
  'fault.audit': 'The request for approval could not be written to the audit journal, so it was not made.',
  'fault.internal': 'A fault inside the service kept it from settling the approval, so it blocks.',
} as const;
