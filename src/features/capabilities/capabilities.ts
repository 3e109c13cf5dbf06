import type { Insertable, Kysely } from 'kysely';
import { getLifetimeStatus } from '../../operations/lifetime.ts';
import { recordOrThrow } from '../../operations/note.ts';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import type { AuditPorts } from '../../runtime/audit/service-event.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import { type CapabilityRow, findMisfit, readScope } from './misfit.ts';
import { capabilityTokens } from './tables.ts';
import { createCapabilityToken, matchesTokenHash, parseTokenId } from './token.ts';
import type {
  Capabilities,
  CapabilityFilter,
  CapabilityRecord,
  CapabilityRequest,
  CapabilityResult,
} from './types.ts';
import { openWrongTokenCounter } from './wrong-tokens.ts';

export interface CapabilityParts {
  readonly store: () => Promise<Store>;
  /** Returns the active policy, the clock and the journal. */
  readonly ports: () => Pick<AuditPorts, 'policy' | 'now_ms' | 'record'>;
  readonly ttl_default_ms: number;
  readonly ttl_max_ms: number;
  /** The number of active tokens. */
  readonly active_max: number;
  /** A monotonic clock. */
  readonly steady_ms: () => number;
}

/** Opens capability tokens for one process over the shared store. */
export function openCapabilities(parts: CapabilityParts): Capabilities {
  const { store, ports } = parts;
  const guesses = openWrongTokenCounter(parts.steady_ms);
  const db = async () => (await store()).db;

  async function look(presented: CapabilityPresentation): Promise<CapabilityResult> {
    const who = presented.has_credential ? `${presented.caller_id} ${presented.agent_id}` : null;
    if (who !== null && guesses.isThrottled(who)) return { taken: false, token_id: null, cause: 'throttled' };
    const tokenId = parseTokenId(presented.token);
    const row = tokenId === null ? null : await getRow(await db(), tokenId);
    if (row === null || !matchesTokenHash(presented.token, row.token_sha256)) {
      if (who !== null) guesses.note(who);
      return { taken: false, token_id: null, cause: 'unknown' };
    }
    const cause = findMisfit(row, presented, ports().now_ms());
    if (cause !== null) return { taken: false, token_id: row.token_id, cause };
    return { taken: true, token_id: row.token_id, expires_ms: row.expires_ms };
  }

  async function use(presented: CapabilityPresentation): Promise<CapabilityResult> {
    const seen = await look(presented);
    if (!seen.taken || (await countUse(await db(), seen.token_id, ports().now_ms()))) return seen;
    // The token ended between the two queries. The third query returns the cause.
    const again = await look(presented);
    return again.taken ? { taken: false, token_id: seen.token_id, cause: 'revoked' } : again;
  }

  return {
    ttl_max_ms: parts.ttl_max_ms,
    issue: (request) => issueToken(request, parts),
    find: async (tokenId) => getRecord(await getRow(await db(), tokenId), ports().now_ms()),
    list: async (filter) => listRecords(await db(), filter, ports().now_ms()),
    revoke: async (tokenId, by, may) => {
      const before = getRecord(await getRow(await db(), tokenId), ports().now_ms());
      if (before === null || !may(before)) return null;
      const ended = await endToken(await db(), tokenId, by, ports().now_ms());
      const record = getRecord(await getRow(await db(), tokenId), ports().now_ms());
      if (record === null) return null;
      if (ended)
        await recordOrThrow(
          buildRevokeEvent(record, by, parts),
          ports().record,
          'The token was revoked, but it',
        );
      return { record, ended };
    },
    check: look,
    use,
  };
}

async function issueToken(
  request: CapabilityRequest,
  parts: CapabilityParts,
): ReturnType<Capabilities['issue']> {
  const nowMs = parts.ports().now_ms();
  const { token_id, token, sha256 } = createCapabilityToken();
  const { scope, tenant_id, agent_id, session_id, issued_by } = request;
  const row: Insertable<StoreTables['capability_tokens']> & CapabilityRow = {
    token_id,
    token_sha256: sha256,
    tenant_id,
    agent_id,
    session_id,
    tool_name: scope.tool_name,
    actions: JSON.stringify(scope.actions),
    secret_keys: JSON.stringify(scope.secret_keys),
    issued_by,
    issued_ms: nowMs,
    expires_ms: nowMs + Math.min(request.ttl_ms ?? parts.ttl_default_ms, parts.ttl_max_ms),
    revoked_by: null,
    revoked_ms: null,
    uses: 0,
    last_used_ms: null,
  };
  const { db } = await parts.store();
  if ((await countLive(db, nowMs)) >= parts.active_max) return null;
  await db.insertInto('capability_tokens').values(row).execute();
  const record = buildRecord(row, nowMs);
  try {
    await recordOrThrow(buildIssueEvent(record, parts), parts.ports().record, 'No token was issued: it');
  } catch (error) {
    // No caller has the token, so a row that stays behind is harmless.
    await db.deleteFrom('capability_tokens').where('token_id', '=', token_id).execute();
    throw error;
  }
  return { token, record };
}

type Db = Kysely<StoreTables>;

async function getRow(db: Db, tokenId: string): Promise<CapabilityRow | null> {
  const found = await db
    .selectFrom('capability_tokens')
    .selectAll()
    .where('token_id', '=', tokenId)
    .executeTakeFirst();
  return found ?? null;
}

/** Counts one use of a token that is active at this moment. Returns `false` if it is not. */
async function countUse(db: Db, tokenId: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('capability_tokens')
    .set((row) => ({ uses: row('uses', '+', 1), last_used_ms: nowMs }))
    .where('token_id', '=', tokenId)
    .where('revoked_ms', 'is', null)
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function endToken(db: Db, tokenId: string, by: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('capability_tokens')
    .set({ revoked_ms: nowMs, revoked_by: by })
    .where('token_id', '=', tokenId)
    .where('revoked_ms', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function countLive(db: Db, nowMs: number): Promise<number> {
  const { active } = await db
    .selectFrom('capability_tokens')
    .select((row) => row.fn.countAll<number>().as('active'))
    .where('expires_ms', '>', nowMs)
    .where('revoked_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(active);
}

async function listRecords(db: Db, filter: CapabilityFilter, nowMs: number): Promise<CapabilityRecord[]> {
  const { agent_ids, tenant_ids, status, limit } = filter;
  if (agent_ids?.length === 0 || tenant_ids?.length === 0) return [];
  let query = db.selectFrom('capability_tokens').selectAll();
  if (agent_ids !== undefined) query = query.where('agent_id', 'in', agent_ids);
  if (tenant_ids !== undefined) query = query.where('tenant_id', 'in', tenant_ids);
  if (status !== undefined) query = query.where('revoked_ms', status === 'revoked' ? 'is not' : 'is', null);
  if (status === 'active') query = query.where('expires_ms', '>', nowMs);
  if (status === 'expired') query = query.where('expires_ms', '<=', nowMs);
  const rows = await query.orderBy('issued_ms', 'desc').orderBy('token_id', 'desc').limit(limit).execute();
  return rows.map((row) => buildRecord(row, nowMs));
}

function getRecord(row: CapabilityRow | null, nowMs: number): CapabilityRecord | null {
  return row === null ? null : buildRecord(row, nowMs);
}

function buildRecord(row: CapabilityRow, nowMs: number): CapabilityRecord {
  return {
    ...capabilityTokens.show(row),
    status: getLifetimeStatus(row, nowMs),
    scope: readScope(row),
  };
}

function buildIssueEvent(record: CapabilityRecord, parts: CapabilityParts): AuditEvent {
  return getChange(record, 'capability_issue', record.issued_by, 'A capability token was issued.', parts);
}

function buildRevokeEvent(record: CapabilityRecord, by: string, parts: CapabilityParts): AuditEvent {
  return getChange(record, 'capability_revoke', by, 'A capability token was revoked.', parts);
}

function getChange(
  record: CapabilityRecord,
  phase: string,
  callerId: string,
  reason: string,
  { ports }: CapabilityParts,
): AuditEvent {
  const { policy, now_ms } = ports();
  const atMs = now_ms();
  return buildServiceEvent({
    event_id: createEventId(atMs),
    now_ms: atMs,
    phase,
    done: true,
    reason,
    caller_id: callerId,
    policy_hash: policy.hash,
    about: { ...record, tool_name: record.scope.tool_name },
    metadata: {
      capability_actions: record.scope.actions,
      capability_token_id: record.token_id,
      expires_at: record.expires_at,
      secret_keys: record.scope.secret_keys,
    },
  });
}
