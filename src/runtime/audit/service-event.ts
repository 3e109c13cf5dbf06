import { hash } from 'node:crypto';
import type { Policy } from '../../core/types/index.ts';
import type { AuditEvent } from './types.ts';

type Metadata = AuditEvent['metadata'];

export type HashedFields = Pick<
  AuditEvent,
  | 'event_id'
  | 'boundary'
  | 'action'
  | 'policy_name'
  | 'reason'
  | 'data_tags'
  | 'agent_id'
  | 'tool_name'
  | 'session_id'
  | 'source_agent_id'
  | 'destination_agent_id'
  | 'metadata'
>;

/**
 * Returns `sha256:` and the SHA-256, in hex, of twelve fields of an event as canonical JSON (RFC 8785): `action`,
 * `agent_id`, `boundary`, `data_tags`, `destination_agent_id`, `event_id`, `metadata`, `policy_name`, `reason`,
 * `session_id`, `source_agent_id`, `tool_name`.
 */
export function hashContext(event: HashedFields): string {
  // The names are already in canonical order, so `JSON.stringify` produces the canonical form.
  const canonical = JSON.stringify({
    action: event.action,
    agent_id: event.agent_id,
    boundary: event.boundary,
    data_tags: event.data_tags,
    destination_agent_id: event.destination_agent_id,
    event_id: event.event_id,
    metadata: sortMetadata(event.metadata),
    policy_name: event.policy_name,
    reason: event.reason,
    session_id: event.session_id,
    source_agent_id: event.source_agent_id,
    tool_name: event.tool_name,
  });
  return `sha256:${hash('sha256', canonical, 'hex')}`;
}

/** Returns the metadata with its names sorted by UTF-16 unit; the same object if they are sorted already. */
export function sortMetadata(metadata: Metadata): Metadata {
  let before = '';
  for (const name in metadata) {
    if (name < before)
      return Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
    before = name;
  }
  return metadata;
}

let lastMs = Number.NaN;
let lastTime = '';

/**
 * Formats a time. Caches the last result, because many events share a millisecond and formatting a date is expensive.
 */
export function formatTime(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastTime = new Date(nowMs).toISOString();
    lastMs = nowMs;
  }
  return lastTime;
}

/** The ports for components that write audit events. */
export interface AuditPorts {
  readonly policy: Policy;
  readonly now_ms: () => number;
  readonly new_event_id: (nowMs: number) => string;
  /** Resolves when the event is durable. A rejection becomes a block. */
  readonly record: (event: AuditEvent) => Promise<void>;
}

/** A change of the service itself, as the audit log records it. */
export interface ServiceChange {
  readonly event_id: string;
  readonly now_ms: number;
  /** The kind of change, such as `policy_reload`; becomes the event's `phase`. */
  readonly phase: string;
  readonly boundary?: AuditEvent['boundary'];
  /** `false` if the change was refused and had no effect. */
  readonly done: boolean;
  readonly reason: string;
  readonly caller_id: string;
  /** The policy that is active afterwards. */
  readonly policy_hash: string;
  /** The tenant, agent, tool or session that the change affects, if it is not the whole service. */
  readonly about?: Partial<
    Pick<AuditEvent, 'tenant_id' | 'agent_id' | 'tool_name' | 'session_id' | 'data_tags'>
  >;
  readonly metadata: Metadata;
}

/** Builds the audit event of a change of the service. */
export function buildServiceEvent(change: ServiceChange): AuditEvent {
  const { about = {} } = change;
  const event: AuditEvent = {
    event_id: change.event_id,
    timestamp: formatTime(change.now_ms),
    boundary: change.boundary ?? 'action',
    decision: change.done ? 'allow' : 'block',
    action: change.done ? 'allow' : 'block',
    policy_name: `service.${change.phase}`,
    reason: change.reason,
    data_tags: about.data_tags ?? [],
    tenant_id: about.tenant_id ?? 'default',
    agent_id: about.agent_id ?? 'unknown',
    tool_name: about.tool_name ?? null,
    session_id: about.session_id ?? null,
    source_agent_id: null,
    destination_agent_id: null,
    caller_id: change.caller_id,
    context_hash: '',
    policy_hash: change.policy_hash,
    coverage: 'full',
    metadata: sortMetadata({ ...change.metadata, phase: change.phase }),
  };
  return { ...event, context_hash: hashContext(event) };
}

/** The source of a decision that a program made with a local guard, in the metadata of its event. */
export const REPORTED_BY_SDK = 'sdk';

/** Returns whether a program made the decision under its own policy and reported it. */
export function isReportedEvent({ metadata }: Pick<AuditEvent, 'metadata'>): boolean {
  return metadata.reported_by === REPORTED_BY_SDK;
}
