import { listTrustedLabels } from '../../core/flow/labels.ts';
import type { JsonObject } from '../../core/types/index.ts';
import type { Context } from '../../operations/operation.ts';
import { listScopeNames } from '../../runtime/access/scope.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import {
  type ArgumentShape,
  type ArgumentType,
  listArgumentShapes,
  parseArgumentShapes,
} from '../../runtime/enforcement/argument-shape.ts';
import { buildNamedTool } from '../../runtime/policies/contract-draft/tool-description.ts';
import { findScopedEvents } from './incidents.ts';
import type { ReadScope, ReadWindow } from './read-scope.ts';

/** The number of events and of approval requests from which a draft is made. */
const EVENTS_MAX = 1_000;
const REQUESTS_MAX = 50;
const FACT_TAG = /^(?:egress|host|path|sql|untrusted)(?:\.|$)/;

/** Drafts a contract of a tool from its recorded calls. */
export async function draftContract(
  toolName: string,
  scope: ReadScope,
  { since_ms }: ReadWindow,
  context: Context,
) {
  const since = new Date(since_ms).toISOString();
  const { events } = await findScopedEvents(
    { tool_name: toolName, since, limit: EVENTS_MAX },
    scope,
    context,
  );
  const requests = events.filter(({ metadata }) => metadata.phase === 'request');
  const responses = events.filter(({ metadata }) => metadata.phase === 'response');
  const shape = await draftArguments(requests, toolName, scope, context);
  const observed = {
    agents: listExactNames(events.map(({ agent_id }) => agent_id)),
    calls_per_minute: countCallsPerMinute(requests),
    argument_tags: listTags(requests),
    argument_names: shape.fields,
    result_tags: listTags(responses),
    has_egress: events.some(({ data_tags }) => data_tags.some((tag) => tag.startsWith('egress.'))),
    origins: listOrigins(requests),
  };
  const { draftContracts } = await import('../../runtime/policies/contract-draft/draft-contracts.ts');
  const tool = { ...buildNamedTool(toolName), input_schema: shape.schema, observed };
  const [drafted] = draftContracts([tool], { given: listGivenLabels(context) });
  const { contract, reasons } = drafted!;
  return {
    calls_seen: requests.length,
    results_seen: responses.length,
    arguments_from: shape.from,
    observed,
    contract: {
      tool_name: toolName,
      description: 'A draft from recorded calls. Check every field.',
      ...contract,
    },
    reasons: Object.fromEntries(reasons.map(({ place, reason }) => [place.join('.') || 'contract', reason])),
  };
}

/** Returns the labels that contracts of the active policy give, because a sink may list no others. */
function listGivenLabels({ runtime }: Context): readonly string[] {
  return runtime.policy().contracts.flatMap(listTrustedLabels);
}

const ORIGINS_MAX = 100;

/** Returns the labels that the arguments of past calls had, from events such as `recipient:user:evt_1`. */
function listOrigins(requests: readonly AuditEvent[]): Record<string, string[]> {
  const origins = new Map<string, Set<string>>();
  for (const { metadata } of requests)
    for (const entry of Array.isArray(metadata.labels) ? metadata.labels : []) {
      const [, name, label] = /^(.+?):([a-z0-9_.-]+)(?::evt_[^:]*)?$/s.exec(String(entry)) ?? [];
      if (name === undefined || (!origins.has(name) && origins.size >= ORIGINS_MAX)) continue;
      origins.set(name, (origins.get(name) ?? new Set()).add(label!));
    }
  return Object.fromEntries([...origins].map(([name, labels]) => [name, [...labels].sort()]));
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

interface DraftedArguments {
  readonly from: 'recorded_calls' | 'approval_requests' | 'nothing';
  readonly schema: JsonObject | null;
  readonly fields: string[];
}

const NO_ARGUMENTS: DraftedArguments = { from: 'nothing', schema: null, fields: [] };

/**
 * Infers names, types and ranges of arguments from the shapes in events (`audit.log_argument_shapes`), or else names
 * and types from approval requests, which hold masked arguments.
 */
async function draftArguments(
  requests: readonly AuditEvent[],
  toolName: string,
  scope: ReadScope,
  context: Context,
): Promise<DraftedArguments> {
  const recorded = requests.flatMap(({ metadata }) =>
    Array.isArray(metadata.argument_shape)
      ? [parseArgumentShapes(metadata.argument_shape as readonly string[])]
      : [],
  );
  if (recorded.length > 0) return { from: 'recorded_calls', ...inferSchema(recorded) };
  const held = await readHeldArguments(toolName, scope, context);
  const shapes = held.map((each) => listArgumentShapes(each).map(widenShape));
  return shapes.length === 0 ? NO_ARGUMENTS : { from: 'approval_requests', ...inferSchema(shapes) };
}

/** Keeps what a masked value shows of the real one. */
function widenShape({ name, type }: ArgumentShape): ArgumentShape {
  return { name, type: type === 'integer' ? 'number' : type, range: null };
}

/** Reads the masked arguments of approval requests. */
async function readHeldArguments(
  toolName: string,
  { tenants, agents }: ReadScope,
  { runtime }: Context,
): Promise<readonly unknown[]> {
  const approvals = await runtime.approvals().catch(() => null);
  const requests = await approvals
    ?.list({
      tool: toolName,
      tenant_ids: listScopeNames(tenants),
      agent_ids: listScopeNames(agents),
      limit: REQUESTS_MAX,
    })
    .catch(() => []);
  return (requests ?? []).flatMap(({ arguments: masked, arguments_truncated }) =>
    arguments_truncated ? [] : parseArguments(masked),
  );
}

function parseArguments(masked: string): unknown[] {
  try {
    const value: unknown = JSON.parse(masked);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : [];
  } catch {
    return [];
  }
}

/** Infers the schema of arguments that covers every call. */
function inferSchema(calls: readonly (readonly ArgumentShape[])[]): Omit<DraftedArguments, 'from'> {
  const byName = Map.groupBy(calls.flat(), ({ name }) => name);
  const fields = [...byName.keys()].toSorted();
  const required = fields.filter((name) => byName.get(name)!.length === calls.length);
  const properties = Object.fromEntries(fields.map((name) => [name, inferProperty(byName.get(name)!)]));
  return { schema: { type: 'object', required, properties, additionalProperties: false }, fields };
}

function inferProperty(seen: readonly ArgumentShape[]): JsonObject {
  const types = [...new Set(seen.map(({ type }) => type))].toSorted();
  // A tool that takes 1.5 takes 1.
  const listed = types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  const rangesOf = (...of: readonly ArgumentType[]) =>
    seen.flatMap(({ type, range }) => (range !== null && of.includes(type) ? [range] : []));
  const numbers = rangesOf('integer', 'number');
  const lengths = rangesOf('string');
  return {
    type: listed.length === 1 ? listed[0]! : listed,
    ...(numbers.length > 0 && {
      minimum: Math.min(...numbers.map(([low]) => low)),
      maximum: Math.max(...numbers.map(([, high]) => high)),
    }),
    ...(lengths.length > 0 && { maxLength: Math.max(...lengths.map(([, high]) => high)) }),
  };
}
