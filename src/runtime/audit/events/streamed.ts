import { coversName } from '../../access/scope.ts';
import type { AuditEvent } from '../types.ts';
import {
  STREAM_FIELDS,
  type StreamEvent,
  type StreamedEvent,
  type StreamFilter,
  type StreamScope,
} from './types.ts';

/** Builds the event that readers receive. It has metadata only, and the shown action if the event has it. */
export function buildStreamedEvent(event: AuditEvent): StreamedEvent {
  const shown: StreamEvent = {
    timestamp: event.timestamp,
    action: event.action,
    rule: event.policy_name,
    event_id: event.event_id,
    boundary: event.boundary,
    decision: event.decision,
    agent_id: event.agent_id,
    tenant_id: event.tenant_id,
    ...(event.user_id !== undefined && { user_id: event.user_id }),
    data_tags: event.data_tags,
    ...(event.action_shown !== undefined && { action_shown: event.action_shown }),
  };
  return { event: shown, caller_id: event.caller_id, json: JSON.stringify(shown) };
}

/** Returns whether a reader of this scope may see an event. */
export function isInScope({ event, caller_id }: StreamedEvent, scope: StreamScope): boolean {
  return (
    coversName(scope.tenants, event.tenant_id) &&
    coversName(scope.agents, event.agent_id) &&
    (scope.caller_id === null || scope.caller_id === caller_id)
  );
}

/** Returns whether an event matches a filter. */
export function matchesStreamFilter({ event }: StreamedEvent, filter: StreamFilter): boolean {
  return STREAM_FIELDS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}
