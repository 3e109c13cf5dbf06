import type { Context } from '../../operations/operation.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { findScopedEvents } from './incidents.ts';
import type { ReadScope, ReadWindow } from './read-scope.ts';

/** The number of events and of approval requests from which a draft is made. */
const EVENTS_MAX = 1_000;
const REQUESTS_MAX = 50;
/** A contract allows more calls in a minute than were seen. */
const RATE_MARGIN = 2;
const FACT_TAG = /^(?:egress|host|path|sql|untrusted)(?:\.|$)/;
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Drafts a contract of a tool from its recorded calls. */
export async function draftContract(
  tool_name: string,
  scope: ReadScope,
  { since_ms }: ReadWindow,
  context: Context,
) {
  const since = new Date(since_ms).toISOString();
  const { events } = await findScopedEvents({ tool_name, since, limit: EVENTS_MAX }, scope, context);
  const requests = events.filter(({ metadata }) => metadata.phase === 'request');
  const responses = events.filter(({ metadata }) => metadata.phase === 'response');
  const shape = await readArgumentShape(tool_name, scope, context);
  const has_egress = events.some(({ data_tags }) => data_tags.some((tag) => tag.startsWith('egress.')));
  return {
    calls_seen: requests.length,
    results_seen: responses.length,
    arguments_from: shape.from,
    contract: {
      tool_name,
      description: 'A draft from recorded calls. Check every field.',
      ...(shape.schema !== null && { arguments: shape.schema }),
      allowed_agents: listExactNames(events.map(({ agent_id }) => agent_id)),
      max_calls_per_minute: countCallsPerMinute(requests) * RATE_MARGIN,
      accepts: { tags: listTags(requests), fields: shape.fields },
      emits: { tags: listTags(responses), fields: [] as string[] },
      side_effects: { reversible: false, requires_approval: false, egress: has_egress },
    },
  };
}

/** Stands for agents whose names cannot be written, because an empty list would allow every agent. */
const NO_AGENT = 'name-the-agents-here';

/** Lists names that were seen. A contract would read one with `*` as a pattern, so it is left out. */
function listExactNames(seen: readonly string[]): string[] {
  const exact = [...new Set(seen)].filter((name) => !name.includes('*')).toSorted();
  return exact.length === 0 ? [NO_AGENT] : exact;
}

/** Returns the tags of findings. Facts about arguments restrict nothing in a contract. */
function listTags(events: readonly AuditEvent[]): string[] {
  return [...new Set(events.flatMap(({ data_tags }) => data_tags))]
    .filter((tag) => !FACT_TAG.test(tag))
    .toSorted();
}

/** Returns the most calls that one agent made in one minute, and at least one. */
function countCallsPerMinute(requests: readonly AuditEvent[]): number {
  const minutes = new Map<string, number>();
  for (const { agent_id, timestamp } of requests) {
    const key = JSON.stringify([agent_id, timestamp.slice(0, 16)]);
    minutes.set(key, (minutes.get(key) ?? 0) + 1);
  }
  return Math.max(1, ...minutes.values());
}

interface ArgumentShape {
  readonly from: 'approval_requests' | 'nothing';
  readonly schema: object | null;
  readonly fields: string[];
}

const NO_SHAPE: ArgumentShape = { from: 'nothing', schema: null, fields: [] };

/**
 * Infers names and types of arguments from approval requests, which hold masked arguments. Audit events hold no
 * arguments, so a tool without approval requests has no shape.
 */
async function readArgumentShape(
  tool_name: string,
  { tenants, agents }: ReadScope,
  { runtime }: Context,
): Promise<ArgumentShape> {
  const approvals = await runtime.approvals().catch(() => null);
  const requests = await approvals
    ?.list({
      tool: tool_name,
      tenant_ids: tenants === '*' ? undefined : tenants,
      agent_ids: agents === '*' ? undefined : agents,
      limit: REQUESTS_MAX,
    })
    .catch(() => []);
  const seen = (requests ?? []).flatMap(({ arguments: masked, arguments_truncated }) =>
    arguments_truncated ? [] : parseArguments(masked),
  );
  return seen.length === 0 ? NO_SHAPE : inferShape(seen);
}

function parseArguments(masked: string): Readonly<Record<string, unknown>>[] {
  try {
    const value: unknown = JSON.parse(masked);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? [value as Record<string, unknown>]
      : [];
  } catch {
    return [];
  }
}

function inferShape(seen: readonly Readonly<Record<string, unknown>>[]): ArgumentShape {
  const types = new Map<string, Set<string>>();
  for (const value of seen)
    for (const [name, member] of Object.entries(value))
      if (FIELD_NAME.test(name)) types.set(name, (types.get(name) ?? new Set()).add(getType(member)));
  const fields = [...types.keys()].toSorted();
  const required = fields.filter((name) => seen.every((value) => Object.hasOwn(value, name)));
  const properties = Object.fromEntries(
    fields.map((name) => [name, { type: listTypes(types.get(name) ?? new Set()) }]),
  );
  const schema = { type: 'object', required, properties, additionalProperties: false };
  return { from: 'approval_requests', schema, fields };
}

function getType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function listTypes(types: ReadonlySet<string>): string | string[] {
  const all = [...types].toSorted();
  return all.length === 1 ? all[0]! : all;
}
