import type { AuditEvent } from './types.ts';

const TEXTS = [
  'boundary',
  'decision',
  'action',
  'policy_name',
  'tenant_id',
  'agent_id',
  'caller_id',
] as const satisfies readonly (keyof AuditEvent)[];

const TEXTS_OR_NULL = [
  'tool_name',
  'session_id',
  'source_agent_id',
  'destination_agent_id',
] as const satisfies readonly (keyof AuditEvent)[];

/**
 * Returns whether a value from a file is an event that can be appended and indexed. Events of this program always are;
 * one foreign line must not stop the others.
 */
export function isAuditEvent(value: unknown): value is AuditEvent {
  if (typeof value !== 'object' || value === null) return false;
  const event = value as Record<string, unknown>;
  return (
    typeof event.event_id === 'string' &&
    /^evt_[0-9a-f]{12,64}$/.test(event.event_id) &&
    typeof event.timestamp === 'string' &&
    !Number.isNaN(Date.parse(event.timestamp)) &&
    TEXTS.every((field) => typeof event[field] === 'string') &&
    TEXTS_OR_NULL.every((field) => event[field] === null || typeof event[field] === 'string') &&
    Array.isArray(event.data_tags) &&
    event.data_tags.every((tag) => typeof tag === 'string') &&
    typeof event.metadata === 'object' &&
    event.metadata !== null
  );
}
