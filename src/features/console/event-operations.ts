import { auditFilterSchemas } from '../../operations/audit.ts';
import { defineOperation } from '../../operations/operation.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import type { AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { findIncidents, findScopedEvents } from './incidents.ts';
import {
  formatPageCursor,
  parsePageCursor,
  parseWindow,
  type ReadScope,
  resolveReadScope,
} from './read-scope.ts';
import {
  buildListSchema,
  eventSchema,
  lastSchema,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageSchemas,
  tenantSchema,
  totalSchema,
  whole,
} from './schemas.ts';

const eventPageSchema = {
  type: 'object',
  required: ['events', 'count', 'next_cursor', 'total'],
  properties: {
    events: buildListSchema(eventSchema),
    count: { ...whole, description: 'The number of events in this answer.' },
    next_cursor: nextCursorSchema,
    total: totalSchema,
  },
} as const;
const noEvents = { events: [], count: 0, next_cursor: null, total: 0 };

export const dashboardEventsQuery = defineOperation({
  name: 'dashboard_events_query',
  summary: 'Query events for the console',
  description:
    'Finds audit events of all tenants that the user sees, with the filters of `/v1/audit/query`, page by page.',
  http: { method: 'POST', path: '/v1/dashboard/events/query' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: {
    type: 'object',
    properties: {
      ...auditFilterSchemas,
      ...pageSchemas,
      newest_first: { type: 'boolean', description: 'Default `true`.' },
    },
  },
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
    const query = ['events', scope, filter, input.newest_first ?? true];
    const newest_first = input.newest_first ?? true;
    const find = (limit: number, cursor: string) =>
      findScopedEvents({ ...filter, newest_first, limit, cursor } as AuditFilter, scope, context);
    return readEventPage(query, input, find);
  },
});

export const dashboardIncidents = defineOperation({
  name: 'dashboard_incidents',
  summary: 'List incidents',
  description: 'Lists events that were blocked, redacted or held for approval, newest first.',
  http: { method: 'GET', path: '/v1/dashboard/incidents' },
  permission: 'incident:read',
  for_users: true,
  needs: 'journal',
  input: { type: 'object', properties: { last: lastSchema, tenant_id: tenantSchema, ...pageSchemas } },
  output: eventPageSchema,
  example: { last: '24h', limit: 20 },
  answer: noEvents,
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope: ReadScope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const find = (limit: number, cursor: string) => findIncidents({}, scope, window, limit, cursor, context);
    return readEventPage(['incidents', scope, window.last], input, find);
  },
});

interface PageInput {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** Reads one page of events. The cursor of the audit index is bound to the query of the page. */
async function readEventPage(
  query: readonly unknown[],
  { limit = PAGE_LIMIT_DEFAULT, cursor }: PageInput,
  find: (limit: number, cursor: string) => Promise<AuditPage>,
) {
  const position = parsePageCursor(query, cursor);
  const page = await find(limit, String(position?.[0] ?? ''));
  const next = page.next_cursor ?? null;
  return {
    events: page.events as never[],
    count: page.count,
    next_cursor: next === null ? null : formatPageCursor(query, [next]),
    total: next === null && position === null ? page.count : null,
  };
}
