import { BOUNDARIES, DECISIONS } from '../core/types/index.ts';
import type { Caller } from '../runtime/access/types.ts';
import { STREAM_FIELDS, type StreamFilter, type StreamScope } from '../runtime/audit/events/types.ts';
import { Refusal } from './operation.ts';

type Field = (typeof STREAM_FIELDS)[number];

/** What a reader of the event stream may ask for, as it stands in a query or a message. */
export interface StreamRequest {
  readonly filter: StreamFilter;
  /** The event to go on behind. */
  readonly after: string | null;
}

const CHARS_MAX = 256;

/** What some fields may say, so that a mistyped word is an error and not an empty stream. */
const WORDS: Partial<Record<Field, readonly string[]>> = {
  boundary: [...BOUNDARIES, 'memory'],
  decision: DECISIONS,
};

/**
 * Reads what a reader asks for: each field is a text, and asks for nothing where it is empty or `null`. A name that is
 * not known is refused, for whoever is not understood must not be shown more than they asked for.
 */
export function readStreamRequest(asked: Readonly<Record<string, unknown>>): StreamRequest {
  const filter: Partial<Record<Field, string>> = {};
  let after: string | null = null;
  for (const [name, given] of Object.entries(asked)) {
    const value = textIn(name, given);
    if (name === 'after') after = value === null ? null : eventId(value);
    else if (!isField(name)) throw wrong(name, `is not known here: ask by ${KNOWN}`);
    else if (value !== null) filter[name] = oneOf(name, value);
  }
  return { filter, after };
}

const KNOWN = [...STREAM_FIELDS, 'after'].map((name) => `\`${name}\``).join(', ');

/** What a caller may see of the stream: what it may see of the audit trail. */
export function streamScope({ id, permissions, tenants, agents }: Caller): StreamScope {
  if (permissions.includes('audit:read')) return { tenants, agents, caller_id: null };
  if (permissions.includes('audit:read_own')) return { tenants, agents, caller_id: id };
  throw new Refusal(
    'forbidden',
    'This needs the permission `audit:read`, or `audit:read_own` for own calls.',
  );
}

/** A filter that asks for more than the scope has is refused, so that nobody waits for what never comes. */
export function withinScope({ tenant_id, agent_id }: StreamFilter, { tenants, agents }: StreamScope): void {
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

function textIn(name: string, value: unknown): string | null {
  if (value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= CHARS_MAX) return value;
  throw wrong(name, `is one text of at most ${CHARS_MAX} characters`);
}

function oneOf(name: Field, value: string): string {
  const words = WORDS[name];
  if (words === undefined || words.includes(value)) return value;
  throw wrong(name, `is one of ${words.join(', ')}`);
}

function eventId(value: string): string {
  if (/^evt_[0-9a-f]{12,64}$/.test(value)) return value;
  throw wrong('after', 'is the `event_id` of an event');
}

/** Names what is wrong by its place; a name that is not ours is not repeated in full. */
function wrong(name: string, message: string): Refusal {
  const path = name.slice(0, 64).replace(/[^\w.-]/g, '?');
  return new Refusal('invalid_request', `\`${path}\` ${message}.`, [{ path, message }]);
}
