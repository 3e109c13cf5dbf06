import { findEvents } from '../../operations/audit.ts';
import type { Context } from '../../operations/operation.ts';
import type { AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import type { ReadScope, ReadWindow } from './read-scope.ts';

/** The actions that make an event an incident. */
export const INCIDENT_ACTIONS = ['block', 'redact', 'require_approval'] as const;

/** Finds events in a caller's scope. The scope is part of the query, so it applies before the limit. */
export function findScopedEvents(
  filter: AuditFilter,
  { tenants, agents }: ReadScope,
  context: Context,
): Promise<AuditPage> {
  const any_of = {
    ...filter.any_of,
    ...(tenants !== '*' && { tenant_id: tenants }),
    ...(agents !== '*' && { agent_id: agents }),
  };
  return findEvents({ ...filter, any_of }, context);
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
  const paged = { ...filter, since, limit, cursor: cursor ?? '', any_of: { action: INCIDENT_ACTIONS } };
  return findScopedEvents(paged, scope, context);
}
