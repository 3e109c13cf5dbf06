import { Type } from '../core/schema.ts';
import { coversName } from '../runtime/access/scope.ts';
import type { Caller } from '../runtime/access/types.ts';
import { isEventId } from '../runtime/audit/event-id.ts';
import type { FollowRequest } from '../runtime/audit/events/follow-index.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import { AuditFilterError, LIMIT_DEFAULT, LIMIT_MAX, parseFilter } from '../runtime/audit/filter.ts';
import type { AuditEvent, AuditFilter, AuditPage } from '../runtime/audit/types.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { buildNoSuchEventRefusal, dropBlankName, resolveTenant } from './subject.ts';

const word = Type.Nullable(Type.String({ maxLength: 256 }));

/** The filters of an audit query, as members of an input. */
export const auditFilterSchemas = {
  boundary: Type.Optional(word),
  action: Type.Optional(word),
  decision: Type.Optional(word),
  policy_name: Type.Optional(word),
  agent_id: Type.Optional(word),
  tool_name: Type.Optional(word),
  data_tag: Type.Optional({ ...word, description: 'Finds the tag and its descendants.' }),
  phase: Type.Optional(word),
  session_id: Type.Optional(word),
  event_id: Type.Optional(word),
  source_agent_id: Type.Optional(word),
  destination_agent_id: Type.Optional(word),
  tenant_id: Type.Optional(word),
  caller_id: Type.Optional(word),
  user_id: Type.Optional({ ...word, description: 'The proved person for whom an agent acted.' }),
  metadata_key: Type.Optional(word),
  metadata_value: Type.Optional(word),
  monitored: Type.Optional({
    ...word,
    description: 'A rule in monitor mode that would have acted; `*` for any.',
  }),
  since: Type.Optional({ ...word, description: 'ISO 8601, or a duration before now: `2h`.' }),
  until: Type.Optional({ ...word, description: 'ISO 8601, or a duration before now.' }),
  last: Type.Optional({ ...word, description: '`15m`, `24h`, `7d`; overrides `since` and `until`.' }),
} as const;

export const auditQuery = defineOperation({
  name: 'audit_query',
  summary: 'Query the audit log',
  description:
    'Finds audit events; all filters are joined with AND. Sees every event whose answer was given before the call. A caller that may only read its own sees the events of its own calls.',
  http: { method: 'POST', path: '/v1/audit/query' },
  mcp: { tool: 'query_audit', read_only: true },
  permission: 'audit:read_own',
  needs: 'journal',
  input: Type.Object({
    ...auditFilterSchemas,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `Default ${LIMIT_DEFAULT}.` }),
    ),
    newest_first: Type.Optional(Type.Boolean({ description: 'Default `true`.' })),
    cursor: Type.Optional(
      Type.Nullable(
        Type.String({
          maxLength: 256,
          description:
            'For more events than one answer holds: empty for the first page, then `next_cursor` of the page before. A page may hold fewer than `limit`.',
        }),
      ),
    ),
  }),
  output: Type.Object({
    events: Type.Array(Type.Unsafe<AuditEvent>({ type: 'object' }), {
      description:
        'A blocked or held tool call has `action_shown` too: the call with secrets, personal data and injections masked, and `action_marks`, the dangerous parts of it (`audit.log_actions`).',
    }),
    count: Type.Integer({ description: 'How many events this answer holds.' }),
    events_searched: Type.Optional(
      Type.Integer({
        description:
          'How many events of the time range were searched. Only if none of them matches, without `cursor`, and not for a caller that may only read its own.',
      }),
    ),
    next_cursor: Type.Optional(
      Type.Nullable(
        Type.String({
          description:
            'Cursor of the next page; only if the request had `cursor`. `null` after the last page.',
        }),
      ),
    ),
  }),
  example: { tool_name: 'send_email', last: '24h', limit: 1 },
  answer: {
    events: [
      {
        event_id: 'evt_0123456789abcdef01234567',
        timestamp: '2026-01-31T12:00:00.000Z',
        boundary: 'action',
        decision: 'allow',
        action: 'allow',
        policy_name: 'default.allow',
        reason: 'Nothing was found that a rule acts on.',
        data_tags: [],
        tenant_id: 'default',
        agent_id: 'support-bot',
        tool_name: 'send_email',
        session_id: 'sess-1',
        source_agent_id: 'support-bot',
        destination_agent_id: 'send_email',
        caller_id: 'loopback',
        context_hash: 'sha256:ebadac55b51c75518c345cef167c9087e116543483d6ac73546ac1236c8b2c30',
        policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
        coverage: 'full',
        metadata: { endpoint: 'intercept_tool', phase: 'request' },
      },
    ],
    count: 1,
  },
  async run(input, context) {
    const requested: Record<string, string> = {};
    for (const field of Object.keys(auditFilterSchemas) as (keyof typeof auditFilterSchemas)[]) {
      const value = dropBlankName(input[field]);
      if (value !== null) requested[field] = value;
    }
    const scope = getScope(requested, context);
    const filter: AuditFilter = {
      ...requested,
      ...scope,
      scope,
      with_actions: true,
      limit: input.limit ?? LIMIT_DEFAULT,
      newest_first: input.newest_first ?? true,
      ...(typeof input.cursor === 'string' && { cursor: input.cursor }),
    };
    const { events, count, next_cursor = null, events_searched } = await findEvents(filter, context);
    const page = {
      events,
      count,
      ...(events_searched !== undefined && { events_searched }),
    };
    return filter.cursor === undefined ? page : { ...page, next_cursor };
  },
});

/** Names of the filters that apply to a single event; the filters of a time range are left out. */
const FOLLOWED = Object.keys(auditFilterSchemas).filter((name) => !['since', 'until', 'last'].includes(name));

/**
 * Parses a request to follow the audit log and narrows it to the part that the caller may read.
 *
 * @throws Refusal if the caller may read nothing, or if a filter is not valid
 */
export function parseFollowRequest(input: unknown, context: Context): FollowRequest {
  const { after = null, ...requested } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const wrong = Object.keys(requested).find((name) => !FOLLOWED.includes(name));
  if (wrong !== undefined)
    throw new Refusal(
      'invalid_request',
      `One who follows can ask by ${FOLLOWED.join(', ')}, and by nothing else.`,
    );
  if (!context.caller.permissions.includes('audit:read_own'))
    throw new Refusal('forbidden', 'This needs the permission `audit:read_own`.');
  if (after !== null && (typeof after !== 'string' || !isEventId(after)))
    throw new Refusal('invalid_request', '`after` is the `event_id` of an event.');
  try {
    const filter = parseFilter({ ...requested, ...getScope(requested, context) }, context.runtime.now_ms());
    return { filter, after };
  } catch (error) {
    if (error instanceof AuditFilterError) throw new Refusal('invalid_request', error.message, error.details);
    throw error;
  }
}

/** Checks a filter without a query. Throws a `Refusal` if it is not valid. */
export function checkAuditFilter(filter: AuditFilter, { runtime }: Context): void {
  try {
    parseFilter(filter, runtime.now_ms());
  } catch (error) {
    if (error instanceof AuditFilterError) throw new Refusal('invalid_request', error.message, error.details);
    throw error;
  }
}

/** Queries the audit index. Throws a `Refusal` if a filter is not valid or the query takes too long. */
export async function findEvents(filter: AuditFilter, { runtime }: Context): Promise<AuditPage> {
  try {
    return await runtime.queryAudit(filter);
  } catch (error) {
    if (error instanceof AuditFilterError) {
      throw new Refusal('invalid_request', error.message, error.details);
    }
    const slow = error instanceof AuditFailure && error.code === 'query_too_slow';
    throw slow ? new Refusal('unavailable', error.message) : error;
  }
}

/** Returns an event that the caller may read, with its shown action. @throws Refusal `not_found` */
export async function findOwnEvent(eventId: string, context: Context): Promise<AuditEvent> {
  const [event] = (await findEvents({ event_id: eventId, limit: 1, with_actions: true }, context)).events;
  const { tenants, agents } = context.caller;
  if (event !== undefined && coversName(tenants, event.tenant_id) && coversName(agents, event.agent_id))
    return event;
  throw buildNoSuchEventRefusal();
}

/** Returns the caller's scope as filters that the caller's own filters cannot widen. */
function getScope(requested: AuditFilter, context: Context): NonNullable<AuditFilter['scope']> {
  const { caller } = context;
  return {
    ...(caller.tenants !== '*' && { tenant_id: resolveTenant(requested, context) }),
    ...(caller.agents !== '*' && { agent_id: requireOneAgent(requested.agent_id, caller) }),
    ...(!caller.permissions.includes('audit:read') && {
      caller_id: requireOwnCalls(requested.caller_id, caller),
    }),
  };
}

function requireOneAgent(requested: string | undefined, caller: Caller): string {
  const agents = caller.agents as readonly string[];
  const agentId = requested ?? (agents.length === 1 ? agents[0] : undefined);
  if (agentId !== undefined && agents.includes(agentId)) return agentId;
  throw new Refusal('forbidden', 'The credential is for particular agents: say which in `agent_id`.');
}

function requireOwnCalls(requested: string | undefined, caller: Caller): string {
  if (requested === undefined || requested === caller.id) return caller.id;
  throw new Refusal('forbidden', 'The credential may read the events of its own calls only.');
}
