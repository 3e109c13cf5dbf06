import { Type } from '../../core/schema.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import {
  formatPageCursor,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageInput,
  parsePageCursor,
  totalSchema,
} from '../../operations/paging.ts';
import { givenName } from '../../operations/shapes.ts';
import { findScopedEvents } from './incidents.ts';
import { parseWindow, type ReadScope, resolveReadScope } from './read-scope.ts';
import { eventSchema, lastSchema, tenantSchema } from './schemas.ts';
import { buildSpans, SPAN_KINDS } from './session-spans.ts';

export const observeSessions = defineOperation({
  name: 'observe_sessions',
  summary: 'List active sessions',
  description: 'Lists the sessions with events in a period, most recent activity first.',
  http: { method: 'GET', path: '/v1/dashboard/observe/sessions' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    sessions: Type.Array(
      Type.Object({
        session_id: Type.String(),
        tenant_id: Type.String(),
        agent_ids: Type.Array(Type.String()),
        event_count: Type.Integer(),
        block_count: Type.Integer(),
        first_seen: Type.String(),
        last_seen: Type.String(),
      }),
    ),
    count: Type.Integer(),
    next_cursor: nextCursorSchema,
    total: totalSchema,
  }),
  example: { last: '24h', tenant_id: 'acme' },
  answer: { sessions: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const query = ['sessions', scope, window.last];
    const [lastMs, tenantId, sessionId] = parsePageCursor(query, input.cursor) ?? [];
    const limit = input.limit ?? PAGE_LIMIT_DEFAULT;
    const after =
      lastMs === undefined
        ? null
        : { last_ms: Number(lastMs), tenant_id: String(tenantId), session_id: String(sessionId) };
    const request = { since_ms: window.since_ms, ...scope, limit: limit + 1, after };
    const found = await context.runtime.listAuditSessions(request);
    const sessions = found.slice(0, limit);
    const last = sessions.at(-1);
    const next =
      found.length > limit && last !== undefined
        ? formatPageCursor(query, [last.last_ms, last.tenant_id, last.session_id])
        : null;
    return {
      sessions: sessions.map(({ first_ms, last_ms: endMs, agent_ids, ...session }) => ({
        ...session,
        agent_ids: [...agent_ids],
        first_seen: new Date(first_ms).toISOString(),
        last_seen: new Date(endMs).toISOString(),
      })),
      count: sessions.length,
      next_cursor: next,
      total: next === null && after === null ? sessions.length : null,
    };
  },
});

const spanSchema = Type.Object({
  event_id: Type.String(),
  kind: Type.Enum(SPAN_KINDS),
  name: Type.String({ description: 'The tool, the model, or the boundary.' }),
  agent_id: Type.String(),
  start: Type.String(),
  end: Type.Nullable(Type.String({ description: 'The time of the answer; `null` if none was recorded.' })),
  duration_ms: Type.Nullable(Type.Integer()),
  end_event_id: Type.Nullable(Type.String({ description: 'The event of the answer.' })),
  decision: Type.String(),
  action: Type.String(),
  rule: Type.String(),
  end_decision: Type.Nullable(Type.String()),
  data_tags: Type.Array(Type.String()),
  session_tags: Type.Array(Type.String(), { description: 'The taint tags of the session before this step.' }),
  new_tags: Type.Array(Type.String(), { description: 'The taint tags that no earlier step had.' }),
  input_tokens: Type.Nullable(Type.Integer({ description: 'Of a model call, as the provider reported.' })),
  output_tokens: Type.Nullable(Type.Integer()),
  micro_usd: Type.Nullable(
    Type.Integer({ description: 'Its cost by the price list, in millionths of a US dollar.' }),
  ),
});

export const observeSession = defineOperation({
  name: 'observe_session',
  summary: 'Show the trace of a session',
  description:
    'Returns the events of a session, oldest first, and its steps: model calls, tool calls, messages and memory, with the taint tags as they appear. A long session shows its newest events first; older ones are on the next page. A step of a model call holds its tokens and cost, if the provider reported them; `/v1/dashboard/cost/report` has all spending.',
  http: { method: 'GET', path: '/v1/dashboard/observe/sessions/{session_id}' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    session_id: givenName,
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    session_id: Type.String(),
    count: Type.Integer({ description: 'The number of events in this answer.' }),
    events: Type.Array(eventSchema, { description: 'Oldest first.' }),
    spans: Type.Array(spanSchema, { description: 'The steps of these events, in the order of their start.' }),
    agent_ids: Type.Array(Type.String()),
    tenant_ids: Type.Array(Type.String()),
    taint_tags: Type.Array(Type.String(), {
      description: 'The taint tags of the session at its latest recorded step.',
    }),
    next_cursor: {
      ...nextCursorSchema,
      description: 'The cursor of older events; `null` if there are none.',
    },
    total: totalSchema,
  }),
  example: { session_id: 'sess-2' },
  answer: {
    session_id: 'sess-2',
    count: 0,
    events: [],
    spans: [],
    agent_ids: [],
    tenant_ids: [],
    taint_tags: [],
    next_cursor: null,
    total: 0,
  },
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    return readTrace(input, scope, context);
  },
});

interface TraceInput {
  readonly session_id: string;
  readonly limit?: number;
  readonly cursor?: string | null;
}

async function readTrace(input: TraceInput, scope: ReadScope, context: Context) {
  const { session_id } = input;
  const query = ['session', scope, session_id];
  const position = parsePageCursor(query, input.cursor);
  const page = await findScopedEvents(
    { session_id, limit: input.limit ?? PAGE_LIMIT_DEFAULT, cursor: String(position?.[0] ?? '') },
    scope,
    context,
  );
  const events = page.events.toReversed();
  const { spans, taint_tags } = buildSpans(events);
  const next = page.next_cursor ?? null;
  return {
    session_id,
    count: events.length,
    events: events,
    spans,
    agent_ids: [...new Set(events.map(({ agent_id }) => agent_id))].toSorted(),
    tenant_ids: [...new Set(events.map(({ tenant_id }) => tenant_id))].toSorted(),
    taint_tags,
    next_cursor: next === null ? null : formatPageCursor(query, [next]),
    total: next === null && position === null ? events.length : null,
  };
}
