import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { getLifetimeStatus } from '../../operations/lifetime.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import { describeScope, type GrantOffer } from './grant-terms.ts';
import type { GrantFilter, GrantRecord, GrantRow } from './grant-types.ts';
import type { ApprovalsParts } from './parts.ts';
import { RecordingFailure } from './recording-failure.ts';
import type { ApprovalRequestRow } from './rows.ts';
import type { GrantScope } from './scope-names.ts';
import { approvalGrants } from './tables.ts';

type Db = Kysely<StoreTables> | Transaction<StoreTables>;

/** An approver’s choice: a scope, and the uses and lifetime if they are stated. */
export interface GrantChoice {
  readonly scope: GrantScope;
  readonly uses_max: number;
  readonly ttl_ms: number;
}

/** Inserts a grant for an approved request. Its event is written by `recordGrantChange`. */
export async function insertGrant(
  trx: Transaction<StoreTables>,
  request: ApprovalRequestRow & { readonly tool_name: string },
  offer: GrantOffer,
  { scope, uses_max, ttl_ms }: GrantChoice,
  approvedBy: readonly string[],
  { now_ms, limits }: ApprovalsParts,
): Promise<GrantRow> {
  const nowMs = now_ms();
  const isAnyCall = scope === 'any_arguments';
  const row: GrantRow = {
    grant_id: `grt_${randomBytes(12).toString('hex')}`,
    request_id: request.request_id,
    scope,
    tenant_id: request.tenant_id,
    agent_id: request.agent_id,
    source_agent_id: request.source_agent_id,
    destination_agent_id: request.destination_agent_id,
    caller_id: request.requested_by,
    user_id: offer.user_id,
    chain: JSON.stringify(offer.chain),
    task_id: offer.task_id,
    session_id: scope === 'agent' ? null : request.session_id,
    tool_name: request.tool_name,
    rules: request.rules,
    rules_hash: offer.rules_hash,
    bound_arguments: JSON.stringify(isAnyCall ? [] : offer.bound),
    bound_hashes: JSON.stringify(isAnyCall ? {} : offer.bound_hashes),
    free_arguments: JSON.stringify(isAnyCall ? [] : offer.free),
    permits_others: isAnyCall || offer.permits_others ? 1 : 0,
    min_approvals: request.min_approvals,
    require_second_factor: request.require_second_factor,
    approved_by: JSON.stringify(approvedBy),
    granted_ms: nowMs,
    expires_ms: nowMs + Math.min(ttl_ms, limits.grant_ttl_ms_max),
    uses_max: Math.min(uses_max, limits.grant_uses_max),
    uses: 0,
    last_used_ms: null,
    revoked_by: null,
    revoked_ms: null,
  };
  await trx.insertInto('approval_grants').values(row).execute();
  return row;
}

/** Counts an agent’s active grants. */
export async function countActiveGrants(
  db: Db,
  { tenant_id, agent_id }: Pick<GrantRow, 'tenant_id' | 'agent_id'>,
  nowMs: number,
): Promise<number> {
  const { active } = await db
    .selectFrom('approval_grants')
    .select((row) => row.fn.countAll<number>().as('active'))
    .where('tenant_id', '=', tenant_id)
    .where('agent_id', '=', agent_id)
    .where('expires_ms', '>', nowMs)
    .where('revoked_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(active);
}

/** Writes the event of a grant that was created or revoked. The caller commits afterwards, so no change lacks its event. */
export async function recordGrantChange(
  row: GrantRow,
  phase: 'approval_grant' | 'approval_grant_revoke',
  callerId: string,
  { now_ms, policy, record }: ApprovalsParts,
): Promise<void> {
  const nowMs = now_ms();
  const event = buildServiceEvent({
    event_id: createEventId(nowMs),
    now_ms: nowMs,
    phase,
    done: true,
    reason: phase === 'approval_grant' ? 'A grant was created with an approval.' : 'A grant was revoked.',
    caller_id: callerId,
    policy_hash: policy().hash,
    about: {
      tenant_id: row.tenant_id,
      agent_id: row.agent_id,
      tool_name: row.tool_name,
      session_id: row.session_id,
    },
    metadata: {
      approval_request_id: row.request_id,
      expires_at: new Date(row.expires_ms).toISOString(),
      grant_id: row.grant_id,
      grant_scope: row.scope,
      grant_uses_max: row.uses_max,
      rules: JSON.parse(row.rules) as string[],
    },
  });
  try {
    await record(event);
  } catch (fault) {
    throw new RecordingFailure(fault);
  }
}

/** Counts one use of a grant that is active and not used up at this moment. Returns `false` if it is not. */
export async function countGrantUse(db: Db, grantId: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('approval_grants')
    .set((row) => ({ uses: row('uses', '+', 1), last_used_ms: nowMs }))
    .where('grant_id', '=', grantId)
    .where('revoked_ms', 'is', null)
    .where('expires_ms', '>', nowMs)
    .where((row) => row('uses', '<', row.ref('uses_max')))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Reads one grant; `null` if there is none. */
export async function findGrant(grantId: string, parts: ApprovalsParts): Promise<GrantRecord | null> {
  const { db } = await parts.store();
  const row = await db
    .selectFrom('approval_grants')
    .selectAll()
    .where('grant_id', '=', grantId)
    .executeTakeFirst();
  return row === undefined ? null : buildGrantRecord(row, parts.now_ms());
}

/** Returns the newest grants that match. */
export async function listGrants(
  filter: GrantFilter,
  parts: ApprovalsParts,
): Promise<readonly GrantRecord[]> {
  const { status, agent_ids, tenant_ids, tool, limit } = filter;
  if (agent_ids?.length === 0 || tenant_ids?.length === 0) return [];
  const nowMs = parts.now_ms();
  let query = (await parts.store()).db.selectFrom('approval_grants').selectAll();
  if (agent_ids !== undefined) query = query.where('agent_id', 'in', agent_ids);
  if (tenant_ids !== undefined) query = query.where('tenant_id', 'in', tenant_ids);
  if (tool !== undefined) query = query.where('tool_name', '=', tool);
  if (status !== undefined) query = query.where('revoked_ms', status === 'revoked' ? 'is not' : 'is', null);
  if (status === 'expired') query = query.where('expires_ms', '<=', nowMs);
  if (status === 'active' || status === 'used_up')
    query = query
      .where('expires_ms', '>', nowMs)
      .where((row) => row('uses', status === 'active' ? '<' : '>=', row.ref('uses_max')));
  const rows = await query.orderBy('granted_ms', 'desc').orderBy('grant_id', 'desc').limit(limit).execute();
  return rows.map((row) => buildGrantRecord(row, nowMs));
}

/**
 * Revokes a grant. Every process reads it at each use, so none uses it afterwards. A grant that was revoked before
 * stays as it is. Returns `null` for an unknown grant, or one that the caller may not see.
 */
export async function revokeGrant(
  grantId: string,
  callerId: string,
  may: (record: GrantRecord) => boolean,
  parts: ApprovalsParts,
): Promise<GrantRecord | null> {
  const store = await parts.store();
  return store.transaction(async (trx) => {
    const found = trx.selectFrom('approval_grants').selectAll().where('grant_id', '=', grantId);
    const row = await found.forUpdate().executeTakeFirst();
    const nowMs = parts.now_ms();
    if (row === undefined || !may(buildGrantRecord(row, nowMs))) return null;
    if (row.revoked_ms !== null) return buildGrantRecord(row, nowMs);
    const changes = { revoked_ms: nowMs, revoked_by: callerId };
    await trx.updateTable('approval_grants').set(changes).where('grant_id', '=', grantId).execute();
    const revoked = { ...row, ...changes };
    await recordGrantChange(revoked, 'approval_grant_revoke', callerId, parts);
    return buildGrantRecord(revoked, nowMs);
  });
}

const BATCH = 100;

/** Deletes a batch of grants that ended long ago. Returns `true` if there may be more. */
export async function deleteOldGrants(parts: ApprovalsParts): Promise<boolean> {
  const { db } = await parts.store();
  const beforeMs = parts.now_ms() - parts.limits.keep_ms;
  const { numDeletedRows } = await db
    .deleteFrom('approval_grants')
    .where(
      'grant_id',
      'in',
      db.selectFrom('approval_grants').select('grant_id').where('expires_ms', '<', beforeMs).limit(BATCH),
    )
    .executeTakeFirst();
  return Number(numDeletedRows) === BATCH;
}

function buildGrantRecord(row: GrantRow, nowMs: number): GrantRecord {
  const lifetime = getLifetimeStatus(row, nowMs);
  const shown = approvalGrants.show(row);
  const terms = {
    bound: shown.bound_arguments,
    free: shown.free_arguments,
    permits_others: row.permits_others === 1,
    scopes: [row.scope],
  };
  return {
    ...shown,
    status: lifetime === 'active' && row.uses >= row.uses_max ? 'used_up' : lifetime,
    sentence: describeScope(row.scope, shown, terms),
  };
}
