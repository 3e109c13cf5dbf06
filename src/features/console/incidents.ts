import { findEvents } from '../../operations/audit.ts';
import type { Context } from '../../operations/operation.ts';
import { INCIDENT_ACTIONS } from '../../runtime/audit/filter.ts';
import type { AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import type { ReadScope, ReadWindow } from './read-scope.ts';

/** Finds events in a caller's scope. The scope is part of the query, so it applies before the limit. */
export function findScopedEvents(
  filter: AuditFilter,
  { tenants, agents }: ReadScope,
  context: Context,
): Promise<AuditPage> {
  const [tenantId, agentId] = [getOnlyName(tenants), getOnlyName(agents)];
  const anyOf = {
    ...filter.any_of,
    ...(tenants !== '*' && { tenant_id: tenants }),
    ...(agents !== '*' && { agent_id: agents }),
  };
  const scoped = {
    // A field with one value is read through its index.
    ...(tenantId !== null && { tenant_id: tenantId }),
    ...(agentId !== null && { agent_id: agentId }),
    ...filter,
    any_of: anyOf,
    ...(filter.cursor !== undefined && { timeout_ms: PAGE_TIMEOUT_MS }),
  };
  return findEvents(scoped, context);
}

/** The time in milliseconds after which a page answers with what it has found. */
const PAGE_TIMEOUT_MS = 150;

function getOnlyName(scope: '*' | readonly string[]): string | null {
  return scope !== '*' && scope.length === 1 ? scope[0]! : null;
}

/** Finds the newest incidents of a period: blocked, redacted, or waiting for approval. */
export function findIncidents(
  filter: AuditFilter,
  scope: ReadScope,
  { since_ms }: ReadWindow,
  limit: number,
  cursor: string | null,
  context: Context,
): Promise<AuditPage> {
  const since = new Date(since_ms).toISOString();
  const paged = {
    ...filter,
    since,
    limit,
    cursor: cursor ?? '',
    any_of: { action: INCIDENT_ACTIONS },
    decisions_only: true,
    without_self_tests: true,
  };
  return findScopedEvents(paged, scope, context);
}
