import type { ApprovalCaller } from '../../runtime/enforcement/approval.ts';
import { maskComment } from '../../runtime/enforcement/mask-comment.ts';
import type { ApprovalActor } from './events.ts';
import { expireRequest } from './expiry.ts';
import { findCommonChoice, findGrantChoice, getVoteColumns } from './grant-choice.ts';
import { parseGrantOffer } from './grant-terms.ts';
import { findGrant, insertGrant, listGrants, recordGrantChange, revokeGrant } from './grants.ts';
import type { ApprovalsParts } from './parts.ts';
import { resolveApproval } from './resolve.ts';
import {
  type ApprovalRequestRow,
  buildApprovalRecords,
  hasExpired,
  listRequestRows,
  lockRequestRow,
  type StoreTransaction,
  type VoteRow,
} from './rows.ts';
import { buildRuleProposal } from './rule-proposal.ts';
import { CLOCK_ACTOR, emitApprovalEvent, transitionRequest } from './transitions.ts';
import type { ApprovalRecord, Approvals, ApprovalVisibility, TransitionResult, VoteInput } from './types.ts';
import { openWaitList } from './wait-list.ts';

/** Opens approvals for one process. The store is opened by the first call. */
export function openApprovals(parts: ApprovalsParts): Approvals {
  const { now_ms } = parts;

  /** An expired request is stored as expired before it is shown, so that it stays expired. */
  async function buildRecords(rows: readonly ApprovalRequestRow[]): Promise<readonly ApprovalRecord[]> {
    const { db } = await parts.store();
    for (const row of rows) if (hasExpired(row, now_ms())) await expireRequest(row.request_id, parts);
    return buildApprovalRecords(db, rows, now_ms(), parts.limits);
  }

  async function look(requestIds: readonly string[]): Promise<readonly ApprovalRecord[]> {
    const { db } = await parts.store();
    const found = db
      .selectFrom('approval_requests')
      .selectAll()
      .where('request_id', 'in', [...requestIds]);
    return buildRecords(await found.execute());
  }

  const waiting = openWaitList(look);
  const leave = parts.bus.subscribe(({ topic, id }) => {
    if (topic === 'approval') waiting.look(id);
  });
  return {
    resolve: (settling) => resolveApproval(settling, parts),
    list: async (filter) => {
      const { db } = await parts.store();
      return buildRecords(await listRequestRows(db, filter, now_ms()));
    },
    find: async (requestId) => (await look([requestId]))[0] ?? null,
    wait: waiting.wait,
    vote: (vote, may) =>
      runTransition(vote.request_id, may, parts, (trx, row) => countVote(trx, row, vote, parts)),
    cancel: (requestId, caller, may) =>
      runTransition(requestId, may, parts, (trx, row) => cancelOwnRequest(trx, row, caller, parts)),
    propose: async (requestId) => {
      const { db } = await parts.store();
      const found = db.selectFrom('approval_requests').selectAll().where('request_id', '=', requestId);
      const row = await found.executeTakeFirst();
      if (row === undefined) return null;
      const proposal = row.rule_proposed === 1 ? buildRuleProposal(row, parts.policy(), parts.limits) : null;
      return { subject: row, proposal };
    },
    listGrants: (filter) => listGrants(filter, parts),
    findGrant: (grantId) => findGrant(grantId, parts),
    revokeGrant: (grantId, callerId, may) => revokeGrant(grantId, callerId, may, parts),
    release: () => {
      leave();
      waiting.release();
    },
  };
}

/** The row after the change, or why it did not change. */
type Outcome = ApprovalRequestRow | Extract<TransitionResult, { moved: false }>['cause'];

/** Changes a pending request. A caller that may not see the request gets `not_found`. */
async function runTransition(
  requestId: string,
  may: ApprovalVisibility,
  parts: ApprovalsParts,
  act: (trx: StoreTransaction, row: ApprovalRequestRow) => Promise<Outcome>,
): Promise<TransitionResult> {
  const store = await parts.store();
  const result = await store.transaction(async (trx): Promise<TransitionResult> => {
    const row = await lockRequestRow(trx, requestId);
    const before = row === null ? null : await getRecord(trx, row, parts);
    if (row === null || before === null || !may(before)) {
      return { moved: false, cause: 'not_found', record: null };
    }
    if (hasExpired(row, parts.now_ms())) {
      const expired = await transitionRequest(trx, row, 'expired', CLOCK_ACTOR, parts);
      return { moved: false, cause: 'not_pending', record: await getRecord(trx, expired, parts) };
    }
    const outcome = row.status === 'pending' ? await act(trx, row) : 'not_pending';
    if (typeof outcome === 'string') return { moved: false, cause: outcome, record: before };
    return { moved: true, record: await getRecord(trx, outcome, parts) };
  });
  if (result.moved) void parts.bus.publish({ topic: 'approval', id: requestId });
  return result;
}

async function getRecord(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  { now_ms, limits }: ApprovalsParts,
): Promise<ApprovalRecord> {
  return (await buildApprovalRecords(trx, [row], now_ms(), limits))[0]!;
}

/** Counts one vote. One denial denies the request; approvals need the configured number. */
async function countVote(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  { vote, caller, approver, comment, grant }: VoteInput,
  parts: ApprovalsParts,
): Promise<Outcome> {
  if (row.requested_by === caller.id) return 'own_request';
  if (vote === 'approve' && row.require_second_factor === 1 && !hasSecondFactor(caller, parts))
    return 'second_factor_required';
  const votes = await trx
    .selectFrom('approval_votes')
    .selectAll()
    .where('request_id', '=', row.request_id)
    .execute();
  const others = votes.filter(({ caller_id }) => caller_id !== caller.id);
  if (vote === 'approve' && others.length < votes.length) return 'already_voted';
  const choice = grant === undefined ? null : await findGrantChoice(trx, row, grant, parts);
  if (typeof choice === 'string') return choice;
  const by = {
    caller_id: caller.id,
    approver: maskComment(approver, parts.policy()),
    comment: maskComment(comment, parts.policy()),
  };
  const rowValues = { ...by, vote, ...getVoteColumns(choice), voted_ms: parts.now_ms() };
  await trx
    .insertInto('approval_votes')
    .values({ request_id: row.request_id, ...rowValues })
    .onConflict((conflict) => conflict.columns(['request_id', 'caller_id']).doUpdateSet(rowValues))
    .execute();
  if (vote === 'deny') return transitionRequest(trx, row, 'denied', by, parts);
  if (others.length + 1 >= row.min_approvals) {
    const approvals = [...others, { ...rowValues, request_id: row.request_id }];
    return approveRequest(trx, row, approvals, by, parts);
  }
  await emitApprovalEvent(trx, row, 'voted', by, parts);
  return row;
}

/** Approves a request, and creates the grant on which all approvers agree. */
async function approveRequest(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  approvals: readonly VoteRow[],
  by: ApprovalActor,
  parts: ApprovalsParts,
): Promise<ApprovalRequestRow> {
  const offer = parseGrantOffer(row.grant_offer);
  const choice = findCommonChoice(approvals);
  const { tool_name } = row;
  if (choice === null || offer === null || tool_name === null)
    return transitionRequest(trx, row, 'approved', by, parts);
  const callers = approvals.map(({ caller_id }) => caller_id);
  const grant = await insertGrant(trx, { ...row, tool_name }, offer, choice, callers, parts);
  const approved = await transitionRequest(trx, row, 'approved', by, parts, { grant_id: grant.grant_id });
  await recordGrantChange(grant, 'approval_grant', by.caller_id, parts);
  return approved;
}

/** Returns whether the caller has just proved a second factor. An operator token and the command line have none. */
function hasSecondFactor({ second_factor_ms }: ApprovalCaller, { now_ms, limits }: ApprovalsParts): boolean {
  if (second_factor_ms === undefined || second_factor_ms === null) return false;
  return now_ms() - second_factor_ms < limits.second_factor_ms_max;
}

function cancelOwnRequest(
  trx: StoreTransaction,
  row: ApprovalRequestRow,
  caller: ApprovalCaller,
  parts: ApprovalsParts,
): Promise<Outcome> {
  return transitionRequest(
    trx,
    row,
    'cancelled',
    { caller_id: caller.id, approver: null, comment: null },
    parts,
  );
}
