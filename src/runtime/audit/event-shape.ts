import { ACTIONS, BOUNDARIES, DECISIONS } from '../../core/types/enums.ts';
import { AGENT_TIERS } from '../../core/types/principal.ts';
import { hashContext } from './service-event.ts';
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

/** Fields on the person and the chain, which an event has only if they are known. */
const OPTIONAL_TEXTS = [
  'user_id',
  'user_email',
  'claimed_user',
  'task_id',
  'trace_id',
] as const satisfies readonly (keyof AuditEvent)[];
const OPTIONAL_LISTS = ['groups', 'chain'] as const satisfies readonly (keyof AuditEvent)[];

const WORDS: readonly (readonly [field: keyof AuditEvent, words: readonly string[]])[] = [
  ['boundary', [...BOUNDARIES, 'memory']],
  ['decision', DECISIONS],
  ['action', ACTIONS],
];

/** Controls, and characters that some readers take for the end of a line. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/gu;

/** Replaces control characters in the names of an event, so that no name forges a line where events are listed. */
export function cleanNames(event: AuditEvent): AuditEvent {
  const names = [...TEXTS, ...TEXTS_OR_NULL, ...OPTIONAL_TEXTS].flatMap((field) => {
    const name = event[field] ?? null;
    return name !== null && name.search(UNPRINTABLE) >= 0
      ? [[field, name.replaceAll(UNPRINTABLE, '\ufffd')] as const]
      : [];
  });
  if (names.length === 0) return event;
  const cleaned = { ...event, ...Object.fromEntries(names) };
  return { ...cleaned, context_hash: hashContext(cleaned) };
}

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
    WORDS.every(([field, words]) => words.includes(event[field] as string)) &&
    TEXTS_OR_NULL.every((field) => event[field] === null || typeof event[field] === 'string') &&
    Array.isArray(event.data_tags) &&
    event.data_tags.every((tag) => typeof tag === 'string') &&
    typeof event.metadata === 'object' &&
    event.metadata !== null &&
    (event.policy_revision === undefined || Number.isSafeInteger(event.policy_revision)) &&
    hasPrincipalShape(event) &&
    isShownAction(event)
  );
}

function hasPrincipalShape(event: Record<string, unknown>): boolean {
  const { agent_tier } = event;
  return (
    OPTIONAL_TEXTS.every((field) => event[field] === undefined || typeof event[field] === 'string') &&
    OPTIONAL_LISTS.every((field) => event[field] === undefined || isTextList(event[field])) &&
    (agent_tier === undefined || AGENT_TIERS.some((tier) => tier === agent_tier))
  );
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The most UTF-16 units in a shown action, and the most marks, that a file may hold. */
const ACTION_UNITS_MAX = 4_096;

function isShownAction({ action_shown, action_marks }: Record<string, unknown>): boolean {
  if (action_shown === undefined) return action_marks === undefined;
  if (typeof action_shown !== 'string' || action_shown.length > ACTION_UNITS_MAX) return false;
  if (!Array.isArray(action_marks) || action_marks.length > ACTION_UNITS_MAX) return false;
  return action_marks.every(
    (range) => Array.isArray(range) && range.length === 2 && range.every(Number.isSafeInteger),
  );
}
