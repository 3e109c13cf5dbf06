import { parseFoundTags } from '../../core/review/found-tags.ts';
import { Type } from '../../core/schema.ts';
import { policyExplain } from '../../operations/explain.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import { actionMarksSchema } from '../../operations/shapes.ts';
import { buildNoSuchEventRefusal } from '../../operations/subject.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { parseFindingPlaces } from '../../runtime/enforcement/finding-places.ts';
import { loadConditions } from '../../runtime/policies/conditions.ts';
import { NO_FINGERPRINT } from '../../runtime/policies/fingerprints.ts';
import { findScopedEvents } from './incidents.ts';
import { type ReadScope, resolveReadScope } from './read-scope.ts';
import { effectsSchema, eventSchema } from './schemas.ts';

/** The number of events of the session before and after the incident. */
const AROUND_MAX = 20;

export const dashboardIncident = defineOperation({
  name: 'dashboard_incident',
  summary: 'Explain an incident',
  description:
    'Returns one decision with its rule trace, its findings without their text, the smallest change that would pass, and the events of the session around it.',
  http: { method: 'GET', path: '/v1/dashboard/incidents/{event_id}' },
  permission: 'incident:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    event_id: Type.String({ minLength: 1, maxLength: 64, description: 'The audit event.' }),
  }),
  output: Type.Object({
    event: eventSchema,
    action_shown: Type.Nullable(
      Type.String({
        description: 'The blocked or held call, with secrets, personal data and injections masked.',
      }),
    ),
    action_marks: actionMarksSchema,
    policy: Type.Object({
      policy_hash: Type.String(),
      is_active: Type.Boolean({ description: 'The policy that decided is still active.' }),
      is_stored: Type.Boolean({ description: 'The policy that decided is stored, so it can be replayed.' }),
    }),
    findings: Type.Array(
      Type.Object({
        tags: Type.Array(Type.String()),
        severity: Type.String(),
        count: Type.Integer(),
        example: Type.Boolean({ description: 'A documented example of a secret.' }),
        is_classified: Type.Boolean({
          description: 'A classifier of the operator found it, not a detector.',
        }),
      }),
      { description: 'The kinds of findings; never their text.' },
    ),
    finding_places: Type.Array(
      Type.Object({
        finding_index: Type.Integer({ description: 'The index of the finding in the event, from 0.' }),
        rule_id: Type.String({ description: 'The detector.' }),
        text_index: Type.Integer({ description: 'The index of the text in the payload, from 0.' }),
        start: Type.Integer({ description: 'Offset in UTF-16 units.' }),
        end: Type.Integer({ description: 'Offset in UTF-16 units, exclusive.' }),
        can_allowlist: Type.Boolean({ description: 'The value can be allowlisted from this event.' }),
      }),
      { description: 'The places of the first findings of a blocked or modified crossing.' },
    ),
    replay: Type.Object({
      change: Type.Enum(['same', 'stricter', 'less_strict', 'unknown']),
      decision: Type.Nullable(Type.String()),
      action: Type.Nullable(Type.String()),
      rule: Type.Nullable(Type.String()),
    }),
    explanation: { ...policyExplain.output.properties.explanation },
    explanation_status: policyExplain.output.properties.status,
    explanation_reason: Type.String(),
    effects: effectsSchema,
    timeline: Type.Array(eventSchema, { description: 'The events of the session around it, oldest first.' }),
    approval_request_id: Type.Nullable(Type.String()),
  }),
  example: { event_id: 'evt_0123456789abcdef01234567' },
  answer: null,
  refusals: ['not_found'],
  async run({ event_id }, context) {
    const scope = resolveReadScope({}, context);
    const found = await findScopedEvent(event_id, scope, context);
    const { action_shown = null, action_marks = [], ...event } = found;
    const explained = await policyExplain.run({ event_id }, withPolicyRead(context));
    const { metadata } = event;
    const findingPlaces = describePlaces(metadata.finding_places);
    const { describeEffects } = await import('../../core/detect/commands/explain-rule.ts');
    return {
      event,
      action_shown,
      action_marks,
      policy: {
        policy_hash: event.policy_hash,
        is_active: event.policy_hash === context.runtime.policy().hash,
        is_stored: explained.status !== 'policy_unavailable',
      },
      findings: describeKinds(metadata.found_tags),
      finding_places: findingPlaces,
      effects: describeEffects(findingPlaces.map(({ rule_id }) => rule_id)),
      replay: await replayUnderActivePolicy(event, context),
      explanation: explained.explanation,
      explanation_status: explained.status,
      explanation_reason: explained.reason,
      timeline: await readTimeline(event, scope, context),
      approval_request_id:
        typeof metadata.approval_request_id === 'string' ? metadata.approval_request_id : null,
    };
  },
});

/** Returns an event in the caller's scope. An event outside of it is reported as not found. */
async function findScopedEvent(eventId: string, scope: ReadScope, context: Context): Promise<AuditEvent> {
  const { events } = await findScopedEvents(
    { event_id: eventId, limit: 1, with_actions: true },
    scope,
    context,
  );
  const [event] = events;
  if (event !== undefined) return event;
  throw buildNoSuchEventRefusal();
}

/** Adds the permissions that an explanation needs: `incident:read` includes them for the caller's tenants. */
function withPolicyRead(context: Context): Context {
  const permissions = [...new Set([...context.caller.permissions, 'audit:read', 'policy:read'] as const)];
  return { ...context, caller: { ...context.caller, permissions } };
}

function describeKinds(recorded: unknown) {
  return parseFoundTags(recorded).flatMap((kind) => {
    if (kind === null) return [];
    const { tags, severity, count, marks } = kind;
    const { example = false, source } = marks;
    return [{ tags: [...tags], severity, count, example, is_classified: source === 'classifier' }];
  });
}

function describePlaces(recorded: unknown) {
  return parseFindingPlaces(recorded).flatMap((place, findingIndex) => {
    if (place === null) return [];
    const { fingerprint, ...rest } = place;
    return [{ finding_index: findingIndex, ...rest, can_allowlist: fingerprint !== NO_FINGERPRINT }];
  });
}

/** Returns what the active policy would decide now. `unknown` if the event does not determine it. */
async function replayUnderActivePolicy(event: AuditEvent, { runtime }: Context) {
  const next = runtime.policy();
  const was = await runtime.policyOf(event.policy_hash);
  const { replayDecision } = await import('../../core/review/replay.ts');
  const conditions = await loadConditions(next);
  const replayed = replayDecision(event, Date.parse(event.timestamp), was, next, conditions);
  if (replayed === null || replayed.change === 'unknown')
    return { change: 'unknown' as const, decision: null, action: null, rule: null };
  const { decision, action, rule } = replayed.result;
  return { change: replayed.change, decision, action, rule };
}

/** Returns the events of the session before and after an event, oldest first, with the event itself. */
async function readTimeline(event: AuditEvent, scope: ReadScope, context: Context): Promise<AuditEvent[]> {
  const { session_id, tenant_id, timestamp } = event;
  if (session_id === null) return [event];
  const about = { session_id, tenant_id, limit: AROUND_MAX + 1 };
  const [before, after] = await Promise.all([
    findScopedEvents({ ...about, until: timestamp, newest_first: true }, scope, context),
    findScopedEvents({ ...about, since: timestamp, newest_first: false }, scope, context),
  ]);
  const all = new Map(
    [...before.events.toReversed(), event, ...after.events].map((one) => [one.event_id, one]),
  );
  return [...all.values()].toSorted((a, b) =>
    a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0,
  );
}
