import { Type } from '../../core/schema.ts';
import { auditFilterSchemas, checkAuditFilter } from '../../operations/audit.ts';
import { defineOperation } from '../../operations/operation.ts';
import {
  formatPageCursor,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageInput,
  parsePageCursor,
  totalSchema,
} from '../../operations/paging.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { INCIDENT_ACTIONS } from '../../runtime/audit/filter.ts';
import type { AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { countMatches } from './counted-filter.ts';
import { findIncidents, findScopedEvents } from './incidents.ts';
import { parseWindow, type ReadScope, resolveReadScope } from './read-scope.ts';
import { eventSchema, lastSchema, tenantSchema } from './schemas.ts';

const eventPageSchema = Type.Object({
  events: Type.Array(eventSchema),
  count: Type.Integer({ description: 'The number of events in this answer.' }),
  next_cursor: nextCursorSchema,
  total: totalSchema,
});
const noEvents = { events: [], count: 0, next_cursor: null, total: 0 };

export const dashboardEventsQuery = defineOperation({
  name: 'dashboard_events_query',
  summary: 'Query events for the console',
  description:
    'Finds audit events of all tenants that the user sees, with the filters of `/v1/audit/query`, page by page. `last` begins at a multiple of five minutes. A page that takes long ends early: it may hold fewer events than `limit`, or none, and `next_cursor` continues.',
  http: { method: 'POST', path: '/v1/dashboard/events/query' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    ...auditFilterSchemas,
    ...pageInput,
    newest_first: Type.Optional(Type.Boolean({ description: 'Default `true`.' })),
  }),
  output: eventPageSchema,
  example: { action: 'block', last: '24h', limit: 20 },
  answer: noEvents,
  refusals: ['invalid_request'],
  async run(input, context) {
    const filter: Record<string, string> = {};
    for (const field of Object.keys(auditFilterSchemas) as (keyof typeof auditFilterSchemas)[]) {
      const value = dropBlankName(input[field]);
      if (value !== null) filter[field] = value;
    }
    if (filter.tenant_id !== undefined) resolveTenant(input, context);
    const scope = resolveReadScope(input, context);
    checkAuditFilter(filter, context);
    const newestFirst = input.newest_first ?? true;
    const { last, ...fields } = filter;
    const window = last === undefined ? null : parseWindow(last, context.runtime.now_ms());
    const since = window === null ? {} : { since: new Date(window.since_ms).toISOString() };
    const find = (limit: number, cursor: string) =>
      findScopedEvents(
        { ...fields, ...since, newest_first: newestFirst, limit, cursor } as AuditFilter,
        scope,
        context,
      );
    const count = () => countMatches(fields, scope, window ?? EVER, context);
    return readEventPage(['events', scope, filter, newestFirst], input, find, count);
  },
});

/** The period of a query without times. */
const EVER = { since_ms: null, until_ms: 0 };

export const dashboardIncidents = defineOperation({
  name: 'dashboard_incidents',
  summary: 'List incidents',
  description: 'Lists events that were blocked, redacted or held for approval, newest first.',
  http: { method: 'GET', path: '/v1/dashboard/incidents' },
  permission: 'incident:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: eventPageSchema,
  example: { last: '24h', limit: 20 },
  answer: noEvents,
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope: ReadScope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const find = (limit: number, cursor: string) => findIncidents({}, scope, window, limit, cursor, context);
    const count = () => countMatches(INCIDENTS, scope, window, context);
    return readEventPage(['incidents', scope, window.last], input, find, count);
  },
});

const INCIDENTS = { any_of: { action: INCIDENT_ACTIONS }, decisions_only: true };

interface PageInput {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/**
 * Reads one page of events. The cursor of the audit index is bound to the query of the page. If the counts show that
 * no event matches, none is searched for.
 */
async function readEventPage(
  query: readonly unknown[],
  { limit = PAGE_LIMIT_DEFAULT, cursor }: PageInput,
  find: (limit: number, cursor: string) => Promise<AuditPage>,
  count: () => Promise<number | null>,
) {
  const position = parsePageCursor(query, cursor);
  const total = await count();
  if (total === 0) return { events: [], count: 0, next_cursor: null, total };
  const page = await find(limit, String(position?.[0] ?? ''));
  const next = page.next_cursor ?? null;
  const isWhole = next === null && position === null;
  return {
    events: page.events,
    count: page.count,
    next_cursor: next === null ? null : formatPageCursor(query, [next]),
    total: total ?? (isWhole ? page.count : null),
  };
}
