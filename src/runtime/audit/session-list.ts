import { sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';
import type { SessionListQuery, SessionPosition, SessionSummary } from './count-types.ts';

/** Lists sessions. A session ID in two tenants is two sessions. */
export async function listAuditSessions(
  index: AuditIndex,
  request: SessionListQuery,
): Promise<SessionSummary[]> {
  const positions = await selectPositions(index, request);
  const sessions: SessionSummary[] = [];
  for (const { tenant_id, session_id, last_ms } of positions) {
    let query = index.db
      .selectFrom('audit_sessions')
      .selectAll()
      .where('tenant_id', '=', tenant_id)
      .where('session_id', '=', session_id);
    if (request.agents !== '*') query = query.where('agent_id', 'in', request.agents);
    const rows = await query.execute();
    sessions.push({
      tenant_id,
      session_id,
      last_ms,
      agent_ids: [...new Set(rows.map(({ agent_id }) => agent_id))],
      event_count: rows.reduce((sum, { event_count }) => sum + event_count, 0),
      block_count: rows.reduce((sum, { block_count }) => sum + block_count, 0),
      first_ms: Math.min(...rows.map(({ first_ms }) => first_ms)),
    });
  }
  return sessions;
}

/** Selects one row for each session: that of its latest agent and state folder. */
function selectPositions(index: AuditIndex, request: SessionListQuery): Promise<SessionPosition[]> {
  const { tenants, agents, after } = request;
  let query = index.db
    .selectFrom('audit_sessions as own')
    .select(['own.tenant_id', 'own.session_id', 'own.last_ms'])
    .where('own.last_ms', '>=', request.since_ms)
    .where((eb) => {
      let later = eb
        .selectFrom('audit_sessions as other')
        .select('other.agent_id')
        .whereRef('other.tenant_id', '=', 'own.tenant_id')
        .whereRef('other.session_id', '=', 'own.session_id')
        .where(
          sql<boolean>`(other.last_ms, other.agent_id, other.node) > (own.last_ms, own.agent_id, own.node)`,
        );
      if (agents !== '*') later = later.where('other.agent_id', 'in', agents);
      return eb.not(eb.exists(later));
    });
  if (tenants !== '*') query = query.where('own.tenant_id', 'in', tenants);
  if (agents !== '*') query = query.where('own.agent_id', 'in', agents);
  if (after !== null)
    query = query.where((eb) =>
      eb(
        eb.refTuple('own.last_ms', 'own.tenant_id', 'own.session_id'),
        '<',
        eb.tuple(after.last_ms, after.tenant_id, after.session_id),
      ),
    );
  return query
    .orderBy('own.last_ms', 'desc')
    .orderBy('own.tenant_id', 'desc')
    .orderBy('own.session_id', 'desc')
    .limit(request.limit)
    .execute();
}
