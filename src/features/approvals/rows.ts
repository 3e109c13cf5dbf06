import type { Kysely, Transaction } from 'kysely';
import { formatDuration } from '../../platform/store/columns.ts';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import type { ActionMarks } from '../../runtime/audit/types.ts';
import type { ApprovalStatus } from '../../runtime/enforcement/approval.ts';
import { describeScope, getScopeTerms, parseGrantOffer } from './grant-terms.ts';
import { OPEN_STATUSES } from './lifecycle.ts';
import { approvalRequests, approvalVotes } from './tables.ts';
import type { ApprovalFilter, ApprovalRecord } from './types.ts';

export type ApprovalRequestRow = Row<typeof approvalRequests>;
export type VoteRow = Row<typeof approvalVotes>;
export type StoreTransaction = Transaction<StoreTables>;
type Db = Kysely<StoreTables> | StoreTransaction;

/** Returns whether a request has expired, whether or not that is stored. */
export function hasExpired(row: Pick<ApprovalRequestRow, 'status' | 'expires_ms'>, nowMs: number): boolean {
  return OPEN_STATUSES.includes(row.status) && row.expires_ms <= nowMs;
}

/** Reads and locks a row: no other transaction changes it until this one ends. */
export async function lockRequestRow(
  trx: StoreTransaction,
  requestId: string,
): Promise<ApprovalRequestRow | null> {
  const found = trx.selectFrom('approval_requests').selectAll().where('request_id', '=', requestId);
  return (await found.forUpdate().executeTakeFirst()) ?? null;
}

/** Returns requests as callers see them, in the order of the given rows. */
export async function buildApprovalRecords(
  db: Db,
  rows: readonly ApprovalRequestRow[],
  nowMs: number,
  limits: GrantLimits,
): Promise<readonly ApprovalRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ request_id }) => request_id);
  const votes = await db
    .selectFrom('approval_votes')
    .selectAll()
    .where('request_id', 'in', ids)
    .orderBy('voted_ms')
    .execute();
  const byRequest = Map.groupBy(votes, ({ request_id }) => request_id);
  return rows.map((row) => getRecord(row, byRequest.get(row.request_id) ?? [], nowMs, limits));
}

/** Returns the fields that every recipient may see. They are named, so that no new column is sent by itself. */
export function summarizeRequest(row: ApprovalRequestRow) {
  const shown = approvalRequests.show(row);
  return {
    request_id: shown.request_id,
    status: shown.status,
    tenant_id: shown.tenant_id,
    agent_id: shown.agent_id,
    source_agent_id: shown.source_agent_id,
    destination_agent_id: shown.destination_agent_id,
    session_id: shown.session_id,
    tool: shown.tool,
    boundary: shown.boundary,
    phase: shown.phase,
    rule: shown.rule,
    rules: shown.rules,
    reason: shown.reason,
    origins: shown.origins,
    data_tags: shown.data_tags,
    min_approvals: shown.min_approvals,
    require_second_factor: shown.require_second_factor,
    requested_by: shown.requested_by,
    requested_at: shown.requested_at,
    expires_at: shown.expires_at,
    decided_by: shown.decided_by,
  };
}

/** Returns the call as people see it, with its dangerous parts. */
export function describeShownAction({
  action_shown,
  action_marks,
}: Pick<ApprovalRequestRow, 'action_shown' | 'action_marks'>): Pick<
  ApprovalRecord,
  'action_shown' | 'action_marks'
> {
  return {
    action_shown,
    action_marks: action_marks === null ? [] : (JSON.parse(action_marks) as ActionMarks),
  };
}

/** Formats a time as ISO 8601, UTC, with milliseconds. */
export function formatIsoTime(ms: number): string {
  return new Date(ms).toISOString();
}

type GrantLimits = Parameters<typeof getScopeTerms>[1];

/** Returns an approver’s choices for a pending request, the narrowest first. */
function listProposedGrants(row: ApprovalRequestRow, limits: GrantLimits): ApprovalRecord['grants_proposed'] {
  const once = { scope: 'once', sentence: ONCE, uses_max: 1, ttl: null } as const;
  const offer = parseGrantOffer(row.grant_offer);
  const { tool_name: tool, agent_id } = row;
  if (offer === null || tool === null) return [once];
  const grants = offer.scopes.map((scope) => {
    const { uses_max, ttl_ms } = getScopeTerms(scope, limits);
    const sentence = describeScope(scope, { tool, agent_id }, offer);
    return { scope, sentence, uses_max, ttl: formatDuration(ttl_ms) };
  });
  return [once, ...grants];
}

const ONCE = 'This call once, with exactly these arguments.';

function getRecord(
  row: ApprovalRequestRow,
  votes: readonly VoteRow[],
  nowMs: number,
  limits: GrantLimits,
): ApprovalRecord {
  const status = hasExpired(row, nowMs) ? 'expired' : row.status;
  return {
    ...approvalRequests.show(row),
    status,
    grants_proposed: status === 'pending' ? listProposedGrants(row, limits) : [],
    ...describeShownAction(row),
    arguments_truncated: Buffer.byteLength(row.arguments_masked) < row.arguments_bytes,
    votes: votes.map(approvalVotes.show),
  };
}

/** Parses a list column. */
export function parseListColumn(column: string): readonly string[] {
  return JSON.parse(column) as readonly string[];
}

/**
 * Returns the newest matching requests. A request whose time is over matches `expired` only, even if that is
 * not stored yet.
 */
export async function listRequestRows(
  db: Db,
  filter: ApprovalFilter,
  nowMs: number,
): Promise<ApprovalRequestRow[]> {
  const { status, agent_ids, tool, tenant_ids, after, limit } = filter;
  // PostgreSQL rejects an empty list.
  if (agent_ids?.length === 0 || tenant_ids?.length === 0) return [];
  let query = db.selectFrom('approval_requests').selectAll();
  if (status !== undefined) query = query.where((eb) => eb.or(buildStatusConditions(eb, status, nowMs)));
  if (agent_ids !== undefined) query = query.where('agent_id', 'in', [...agent_ids]);
  if (tool !== undefined) query = query.where('tool_name', '=', tool);
  if (tenant_ids !== undefined) query = query.where('tenant_id', 'in', [...tenant_ids]);
  if (after !== undefined) {
    const requestedMs = Date.parse(after.requested_at);
    query = query.where((eb) =>
      eb(eb.refTuple('requested_ms', 'request_id'), '<', eb.tuple(requestedMs, after.request_id)),
    );
  }
  return query.orderBy('requested_ms', 'desc').orderBy('request_id', 'desc').limit(limit).execute();
}

type Expressions = import('kysely').ExpressionBuilder<StoreTables, 'approval_requests'>;

function buildStatusConditions(eb: Expressions, status: ApprovalStatus, nowMs: number) {
  const is = eb('status', '=', status);
  if (OPEN_STATUSES.includes(status)) return [eb.and([is, eb('expires_ms', '>', nowMs)])];
  if (status !== 'expired') return [is];
  return [is, eb.and([eb('status', 'in', OPEN_STATUSES), eb('expires_ms', '<=', nowMs)])];
}
