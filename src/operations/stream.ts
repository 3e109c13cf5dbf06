import { BOUNDARIES, DECISIONS } from '../core/types/index.ts';
import type { Caller } from '../runtime/access/types.ts';
import { STREAM_FIELDS, type StreamFilter, type StreamScope } from '../runtime/audit/events/types.ts';
import { Refusal } from './operation.ts';

type Field = (typeof STREAM_FIELDS)[number];

/** The request of a reader of the event stream, as the query or message contains it. */
export interface EventStreamRequest {
  readonly filter: StreamFilter;
  /** The ID of the event after which the stream continues. */
  readonly after: string | null;
}

const CHARS_MAX = 256;

/** Valid values of some fields, so that a mistyped value is an error and not an empty stream. */
const WORDS: Partial<Record<Field, readonly string[]>> = {
  boundary: [...BOUNDARIES, 'memory'],
  decision: DECISIONS,
};

/**
 * Parses the request of a reader. An empty or `null` field counts as absent. An unknown name is refused, because
 * ignoring it would show the reader more than it asked for.
 */
export function parseStreamRequest(request: Readonly<Record<string, unknown>>): EventStreamRequest {
  const filter: Partial<Record<Field, string>> = {};
  let after: string | null = null;
  for (const [name, given] of Object.entries(request)) {
    const value = parseText(name, given);
    if (name === 'after') after = value === null ? null : parseEventId(value);
    else if (!isField(name)) throw buildFieldRefusal(name, `is not known here: ask by ${KNOWN}`);
    else if (value !== null) filter[name] = getOne(name, value);
  }
  return { filter, after };
}

const KNOWN = [...STREAM_FIELDS, 'after'].map((name) => `\`${name}\``).join(', ');

/** Returns the scope of a caller in the stream, which equals its scope in the audit log. */
export function getStreamScope({ id, permissions, tenants, agents }: Caller): StreamScope {
  if (permissions.includes('audit:read')) return { tenants, agents, caller_id: null };
  if (permissions.includes('audit:read_own')) return { tenants, agents, caller_id: id };
  throw new Refusal(
    'forbidden',
    'This needs the permission `audit:read`, or `audit:read_own` for own calls.',
  );
}

/** Refuses a filter outside the scope, because its reader would wait for events that never come. */
export function assertWithinScope(
  { tenant_id, agent_id }: StreamFilter,
  { tenants, agents }: StreamScope,
): void {
  for (const [name, value, scope] of [
    ['tenant_id', tenant_id, tenants],
    ['agent_id', agent_id, agents],
  ] as const) {
    if (value !== undefined && scope !== '*' && !scope.includes(value))
      throw new Refusal('forbidden', `\`${name}\` is outside the scope of the credential.`);
  }
}

function isField(name: string): name is Field {
  return (STREAM_FIELDS as readonly string[]).includes(name);
}

function parseText(name: string, value: unknown): string | null {
  if (value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= CHARS_MAX) return value;
  throw buildFieldRefusal(name, `is one text of at most ${CHARS_MAX} characters`);
}

function getOne(name: Field, value: string): string {
  const words = WORDS[name];
  if (words === undefined || words.includes(value)) return value;
  throw buildFieldRefusal(name, `is one of ${words.join(', ')}`);
}

function parseEventId(value: string): string {
  if (/^evt_[0-9a-f]{12,64}$/.test(value)) return value;
  throw buildFieldRefusal('after', 'is the `event_id` of an event');
}

/** Builds the refusal for a field. An unknown name is not repeated in full. */
function buildFieldRefusal(name: string, message: string): Refusal {
  const path = name.slice(0, 64).replace(/[^\w.-]/g, '?');
  return new Refusal('invalid_request', `\`${path}\` ${message}.`, [{ path, message }]);
}
