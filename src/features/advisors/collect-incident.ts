import { AROUND_EVENTS_MAX, type IncidentRecord } from '../../core/advisors/incident.ts';
import { buildPromptVocabulary } from '../../core/advisors/vocabulary.ts';
import { findEvents } from '../../operations/audit.ts';
import type { Context } from '../../operations/operation.ts';
import { buildNoSuchEventRefusal } from '../../operations/subject.ts';
import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import type { AdvisorScope } from './scope.ts';

/**
 * Returns an event with up to five events of its session around it, as far as the caller may see them.
 * @throws Refusal `not_found`
 */
export async function collectIncident(
  eventId: string,
  scope: AdvisorScope,
  context: Context,
): Promise<IncidentRecord> {
  const { events } = await findScoped({ event_id: eventId, limit: 1 }, scope, context);
  const [event] = events;
  if (event === undefined) throw buildNoSuchEventRefusal();
  const policy = (await context.runtime.policyOf(event.policy_hash)) ?? context.runtime.policy();
  return {
    event: addTime(event),
    around: (await findAround(event, scope, context)).map(addTime),
    vocabulary: buildPromptVocabulary(policy),
  };
}

function addTime(event: AuditEvent): IncidentRecord['event'] {
  return { ...event, timestamp_ms: Date.parse(event.timestamp) };
}

/** Returns the nearest events before and after: three before and two after, if there are so many. */
async function findAround(
  event: AuditEvent,
  scope: AdvisorScope,
  context: Context,
): Promise<readonly AuditEvent[]> {
  const { session_id, tenant_id, timestamp } = event;
  if (session_id === null) return [];
  const about = { session_id, tenant_id, limit: AROUND_EVENTS_MAX + 1 };
  const [before, after] = await Promise.all([
    findScoped({ ...about, until: timestamp, newest_first: true }, scope, context),
    findScoped({ ...about, since: timestamp, newest_first: false }, scope, context),
  ]);
  const others = (page: AuditPage) => page.events.filter((each) => each.event_id !== event.event_id);
  const earlier = others(before);
  const seen = new Set(earlier.map((each) => each.event_id));
  const later = others(after).filter((each) => !seen.has(each.event_id));
  const beforeCount = Math.max(AROUND_EVENTS_MAX - later.length, Math.ceil(AROUND_EVENTS_MAX / 2));
  const kept = earlier.slice(0, beforeCount).toReversed();
  return [...kept, ...later.slice(0, AROUND_EVENTS_MAX - kept.length)];
}

/** The scope is part of the query, so that it applies before the limit. */
function findScoped(
  filter: AuditFilter,
  { tenants, agents }: AdvisorScope,
  context: Context,
): Promise<AuditPage> {
  const anyOf = {
    ...(tenants !== '*' && { tenant_id: tenants }),
    ...(agents !== '*' && { agent_id: agents }),
  };
  return findEvents({ ...filter, any_of: anyOf }, context);
}
