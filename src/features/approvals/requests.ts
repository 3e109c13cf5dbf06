import { randomBytes } from 'node:crypto';
import { buildShownAction } from '../../core/decision/shown-action.ts';
import type { ApprovalRequirement, Crossing, Verdict } from '../../core/types/index.ts';
import type { Store } from '../../platform/store/index.ts';
import type { ApprovalCaller } from '../../runtime/enforcement/approval.ts';
import { type ApprovalBinding, buildBinding, buildPendingKey, findBindingDifference } from './binding.ts';
import { expireRequest } from './expiry.ts';
import { buildGrantOffer, buildQuestionKey } from './grant-offer.ts';
import { maskArguments } from './mask.ts';
import { describeOrigins } from './origins.ts';
import type { ApprovalsParts } from './parts.ts';
import { wasOftenApproved } from './question.ts';
import { type ApprovalRequestRow, hasExpired, lockRequestRow, parseListColumn } from './rows.ts';
import { CLOCK_ACTOR, emitApprovalEvent, transitionRequest } from './transitions.ts';

/** The pending request for a crossing, or the limit that prevents a new one. */
export type ApprovalRequestResult =
  | { readonly is_stored: true; readonly row: ApprovalRequestRow }
  | { readonly is_stored: false; readonly limit: 'pending_max' | 'pending_per_agent_max' };

/** Requests approval for a verdict. The same question returns the same request while it is pending. */
export async function requestApproval(
  wanted: ApprovalRequirement,
  judged: Verdict,
  crossing: Crossing,
  caller: ApprovalCaller,
  parts: ApprovalsParts,
): Promise<ApprovalRequestResult> {
  const asked = createRow(wanted, judged, crossing, caller, parts);
  const store = await parts.store();
  const waiting = await findWaitingRequest(store.db, asked);
  if (waiting !== null && !hasExpired(waiting, asked.requested_ms)) return { is_stored: true, row: waiting };
  return store.transaction(async (trx) => {
    const same = await findWaitingRequest(trx, asked);
    if (same !== null && !hasExpired(same, asked.requested_ms)) return { is_stored: true, row: same };
    if (same !== null) {
      const old = await lockRequestRow(trx, same.request_id);
      if (old?.status === 'pending') await transitionRequest(trx, old, 'expired', CLOCK_ACTOR, parts);
    }
    const limit = await findReachedLimit(trx, asked, parts);
    if (limit !== null) return { is_stored: false, limit };
    const row = { ...asked, rule_proposed: (await wasOftenApproved(trx, asked)) ? 1 : 0 };
    const inserted = await trx
      .insertInto('approval_requests')
      .values(row)
      .onConflict((conflict) => conflict.column('pending_key').doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 1n) {
      await emitApprovalEvent(
        trx,
        row,
        'pending',
        { caller_id: caller.id, approver: null, comment: null },
        parts,
      );
      return { is_stored: true, row };
    }
    // Another process inserted the same request a moment earlier.
    const theirs = await findWaitingRequest(trx, row);
    if (theirs === null) throw new Error('a request that was there is gone');
    return { is_stored: true, row: theirs };
  });
}

function createRow(
  wanted: ApprovalRequirement,
  judged: Verdict,
  crossing: Crossing,
  caller: ApprovalCaller,
  { limits, now_ms, policy, secret }: ApprovalsParts,
): ApprovalRequestRow {
  const binding = buildBinding(crossing);
  const requestedMs = now_ms();
  const masked = maskArguments(
    crossing.content,
    judged,
    policy().redaction.typed,
    limits.arguments_bytes_max,
  );
  const { tool, content } = crossing;
  const offer = buildGrantOffer(wanted, judged, crossing, policy(), secret);
  const origins = describeOrigins(judged, crossing, requestedMs);
  const shown = tool === null ? null : buildShownAction(tool, content, judged, policy().redaction.typed);
  return {
    request_id: createRequestId(),
    status: 'pending',
    ...binding,
    arguments_masked: masked.text,
    arguments_bytes: masked.bytes,
    action_shown: shown?.text ?? null,
    action_marks: shown === null ? null : JSON.stringify(shown.marks),
    rule: judged.rule,
    rules: JSON.stringify(wanted.rules),
    reason: judged.reason,
    data_tags: JSON.stringify(judged.data_tags),
    origins: origins === null ? null : JSON.stringify(origins),
    policy_hash: judged.policy_hash,
    grant_offer: offer === null ? null : JSON.stringify(offer),
    question_key: offer === null ? null : buildQuestionKey(wanted, crossing, offer),
    rule_proposed: 0,
    grant_id: null,
    min_approvals: wanted.min_approvals,
    require_second_factor: wanted.require_second_factor === true ? 1 : 0,
    requested_by: caller.id,
    requested_ms: requestedMs,
    expires_ms: requestedMs + Math.min(wanted.ttl_ms, limits.ttl_ms_max),
    decided_by: null,
    decided_ms: null,
    consumed_ms: null,
    pending_key: buildPendingKey(binding, wanted.rules, caller.kind === 'person' ? caller.id : null),
  };
}

/** Returns a random id that cannot be guessed, so only callers that received it can use it. */
function createRequestId(): string {
  return `apr_${randomBytes(12).toString('hex')}`;
}

async function findWaitingRequest(
  db: Store['db'],
  { pending_key }: ApprovalRequestRow,
): Promise<ApprovalRequestRow | null> {
  const found = db.selectFrom('approval_requests').selectAll().where('pending_key', '=', pending_key);
  return (await found.executeTakeFirst()) ?? null;
}

async function findReachedLimit(
  db: Store['db'],
  { tenant_id, agent_id, requested_ms }: ApprovalRequestRow,
  { limits }: ApprovalsParts,
): Promise<Extract<ApprovalRequestResult, { is_stored: false }>['limit'] | null> {
  const pending = db
    .selectFrom('approval_requests')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .where('expires_ms', '>', requested_ms);
  const ofAgent = pending.where('tenant_id', '=', tenant_id).where('agent_id', '=', agent_id);
  const own = await ofAgent.executeTakeFirstOrThrow();
  if (own.count >= limits.pending_per_agent_max) return 'pending_per_agent_max';
  const all = await pending.executeTakeFirstOrThrow();
  return all.count >= limits.pending_max ? 'pending_max' : null;
}

/** The result of using an approval. */
export type ApprovalUse =
  | { readonly used: true; readonly row: ApprovalRequestRow }
  | {
      readonly used: false;
      readonly cause: 'not_found' | 'mismatch' | 'not_approved';
      /** The part of the crossing that differs; set if the cause is `mismatch`. */
      readonly what: string;
      readonly row: ApprovalRequestRow | null;
    };

/** Reads an approval and compares it with a crossing, without using it. */
export async function checkApproval(
  requestId: string,
  crossing: Crossing,
  parts: ApprovalsParts,
): Promise<ApprovalUse> {
  const store = await parts.store();
  const found = await store.db
    .selectFrom('approval_requests')
    .selectAll()
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  if (found === undefined) return { used: false, cause: 'not_found', what: '', row: null };
  if (hasExpired(found, parts.now_ms())) await expireRequest(requestId, parts);
  return compareBinding(found, buildBinding(crossing), parts.now_ms());
}

/**
 * Finds the newest answered request for exactly this crossing that has not expired. It lets a caller that
 * cannot name the request use it, or learn again that it was denied. Returns `null` if there is none.
 */
export async function findAnsweredRequest(
  wanted: ApprovalRequirement,
  crossing: Crossing,
  parts: ApprovalsParts,
): Promise<string | null> {
  const store = await parts.store();
  const binding = buildBinding(crossing);
  const rows = await store.db
    .selectFrom('approval_requests')
    .selectAll()
    .where('arguments_hash', '=', binding.arguments_hash)
    .where('tenant_id', '=', binding.tenant_id)
    .where('agent_id', '=', binding.agent_id)
    .where('status', 'in', ['approved', 'denied'])
    .where('expires_ms', '>', parts.now_ms())
    .orderBy('requested_ms', 'desc')
    .limit(ANSWERED_MAX)
    .execute();
  const fitting = rows.filter(
    (row) => findBindingDifference(row, binding) === null && isCovered(wanted, row),
  );
  return (fitting.find(({ status }) => status === 'approved') ?? fitting[0])?.request_id ?? null;
}

/**
 * The number of requests that are compared: those of one agent with the same arguments, for any tool and
 * session.
 */
const ANSWERED_MAX = 100;

function compareBinding(row: ApprovalRequestRow, binding: ApprovalBinding, nowMs: number): ApprovalUse {
  const what = findBindingDifference(row, binding);
  if (what !== null) return { used: false, cause: 'mismatch', what, row: null };
  const status = hasExpired(row, nowMs) ? 'expired' : row.status;
  if (status !== 'approved') return { used: false, cause: 'not_approved', what: '', row: { ...row, status } };
  return { used: true, row };
}

/** Uses an approval. If several callers try at the same time, exactly one succeeds, and none after it. */
export async function consumeApproval(
  requestId: string,
  caller: ApprovalCaller,
  parts: ApprovalsParts,
): Promise<ApprovalUse> {
  const store = await parts.store();
  return store.transaction(async (trx) => {
    const row = await lockRequestRow(trx, requestId);
    if (row === null) return { used: false, cause: 'not_found', what: '', row: null };
    const by = { caller_id: caller.id, approver: null, comment: null };
    if (hasExpired(row, parts.now_ms())) {
      const expired = await transitionRequest(trx, row, 'expired', CLOCK_ACTOR, parts);
      return { used: false, cause: 'not_approved', what: '', row: expired };
    }
    if (row.status !== 'approved') return { used: false, cause: 'not_approved', what: '', row };
    return { used: true, row: await transitionRequest(trx, row, 'consumed', by, parts) };
  });
}

/** Returns whether the approval covers what is needed now: every rule, as many approvers, and their second factor. */
export function isCovered(
  wanted: ApprovalRequirement,
  row: Pick<ApprovalRequestRow, 'rules' | 'min_approvals' | 'require_second_factor'>,
): boolean {
  const approved = parseListColumn(row.rules);
  if (wanted.require_second_factor === true && row.require_second_factor !== 1) return false;
  return row.min_approvals >= wanted.min_approvals && wanted.rules.every((rule) => approved.includes(rule));
}
