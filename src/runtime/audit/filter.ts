import { ACTIONS, BOUNDARIES, DECISIONS } from '../../core/types/index.ts';
import { isSelfTestEvent } from './self-test.ts';
import type { AuditEvent, AuditFilter, AuditFilterLists } from './types.ts';

/** An invalid filter; `invalid_request` over every transport. Names the field, never its value. */
export class AuditFilterError extends Error {
  readonly code = 'invalid_request';
  readonly details: readonly { path: string; message: string }[];
  constructor(path: string, message: string) {
    super(`\`${path}\` ${message}.`);
    this.name = 'AuditFilterError';
    this.details = [{ path, message }];
  }
}

/** A filter with resolved times and limit. Times are milliseconds since 1970, inclusive. */
export interface ParsedFilter {
  readonly equal: Readonly<Partial<Record<EqualField, string>>>;
  readonly any_of: AuditFilterLists;
  readonly decisions_only: boolean;
  readonly without_self_tests: boolean;
  readonly data_tag: string | null;
  readonly metadata: { readonly key: string; readonly value: string | null } | null;
  /** A rule in monitor mode that would have acted; `*` for any. */
  readonly monitored: string | null;
  /** The proved person. */
  readonly user_id: string | null;
  readonly since_ms: number | null;
  readonly until_ms: number | null;
  readonly limit: number;
  readonly newest_first: boolean;
  /** The end of the previous page; `null` for the first page. */
  readonly cursor: AuditCursor | null;
  /** The caller can request more pages, so a page may end early. */
  readonly is_paged: boolean;
}

/** The end of a page. Its values come from the journal, so it survives a rebuild of the index. */
export interface AuditCursor {
  readonly timestamp_ms: number;
  readonly seq: number;
  readonly event_id: string;
}

const CURSOR = /^(\d{1,15})-(\d{1,15})-(\S{1,128})$/;

/** Formats a cursor for the `cursor` field of the next query. */
export function formatCursor({ timestamp_ms, seq, event_id }: AuditCursor): string {
  return `${timestamp_ms}-${seq}-${event_id}`;
}

function parseCursor({ cursor }: AuditFilter): AuditCursor | null {
  if (cursor === undefined || cursor === '') return null;
  const [, timestamp, seq, eventId] = (typeof cursor === 'string' && CURSOR.exec(cursor)) || [];
  if (eventId === undefined)
    throw new AuditFilterError('cursor', 'is the `next_cursor` of an answer, or empty for the first page');
  return { timestamp_ms: Number(timestamp), seq: Number(seq), event_id: eventId };
}

export const EQUAL_FIELDS = [
  'event_id',
  'session_id',
  'agent_id',
  'tenant_id',
  'caller_id',
  'tool_name',
  'source_agent_id',
  'destination_agent_id',
  'policy_name',
  'boundary',
  'decision',
  'action',
  'phase',
] as const;
export type EqualField = (typeof EQUAL_FIELDS)[number];

/** The actions that make an event an incident; the index has a part for them. */
export const INCIDENT_ACTIONS: readonly string[] = ['redact', 'require_approval', 'block'];

/** The fields of `any_of`. */
export const LIST_FIELDS = ['tenant_id', 'agent_id', 'action'] as const;

export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 10_000;
const VALUE_CHARS_MAX = 1_024;

/** The values of enum fields, so that a mistyped value is an error and not an empty result. */
const WORDS: Partial<Record<EqualField, readonly string[]>> = {
  boundary: [...BOUNDARIES, 'memory'],
  decision: DECISIONS,
  action: ACTIONS,
};

/**
 * Parses a filter. `last` overrides `since` and `until`. A time is ISO 8601 (UTC without a zone) or a duration before
 * now, such as `15m`. A duration is a whole number and one of `s m h d w`.
 *
 * @throws AuditFilterError with the values that the field accepts
 */
export function parseFilter(filter: AuditFilter, nowMs: number): ParsedFilter {
  const equal: Partial<Record<EqualField, string>> = {};
  for (const field of EQUAL_FIELDS) {
    const value = readText(filter, field);
    if (value === null) continue;
    const words = WORDS[field];
    if (words !== undefined && !words.includes(value))
      throw new AuditFilterError(field, `is one of ${words.join(', ')}`);
    equal[field] = value;
  }
  const lastMs = filter.last === undefined ? null : parseDuration(readText(filter, 'last')!);
  if (filter.last !== undefined && lastMs === null)
    throw new AuditFilterError('last', `is a duration, ${DURATIONS}`);
  return {
    equal,
    any_of: filter.any_of ?? {},
    decisions_only: filter.decisions_only ?? false,
    without_self_tests: filter.without_self_tests ?? false,
    data_tag: parseTag(filter),
    metadata: parseMetadata(filter),
    monitored: readText(filter, 'monitored'),
    user_id: readText(filter, 'user_id'),
    since_ms: lastMs === null ? readTime(filter, 'since', nowMs) : nowMs - lastMs,
    until_ms: lastMs === null ? readTime(filter, 'until', nowMs) : nowMs,
    limit: parseLimit(filter),
    newest_first: filter.newest_first ?? true,
    cursor: parseCursor(filter),
    is_paged: filter.cursor !== undefined,
  };
}

/**
 * Returns whether the given rule, or any rule for `*`, would have acted. `metadata.monitored` lists `<rule>:<action>`.
 */
export function matchesMonitored(
  { metadata }: Pick<AuditEvent, 'metadata'>,
  { monitored }: Pick<ParsedFilter, 'monitored'>,
): boolean {
  if (monitored === null) return true;
  const noted = Array.isArray(metadata.monitored) ? (metadata.monitored as readonly string[]) : [];
  return noted.some((each) => monitored === '*' || each.slice(0, each.lastIndexOf(':')) === monitored);
}

/** Returns whether an event names a filter's proved person. A name that a caller stated does not count. */
export function matchesUser(
  event: Pick<AuditEvent, 'user_id'>,
  { user_id }: Pick<ParsedFilter, 'user_id'>,
): boolean {
  return user_id === null || event.user_id === user_id;
}

/** Returns whether an event matches all filters except its times. */
export function matchesFilter(event: AuditEvent, filter: ParsedFilter): boolean {
  const { equal, any_of, data_tag } = filter;
  const fields: Readonly<Record<string, unknown>> = { ...event, phase: event.metadata.phase };
  return (
    EQUAL_FIELDS.every((field) => equal[field] === undefined || fields[field] === equal[field]) &&
    !(filter.without_self_tests && isSelfTestEvent(event)) &&
    !(filter.decisions_only && String(event.metadata.phase).startsWith('approval_')) &&
    LIST_FIELDS.every((field) => any_of[field]?.includes(event[field]) ?? true) &&
    (data_tag === null ||
      event.data_tags.some((tag) => tag === data_tag || tag.startsWith(`${data_tag}.`))) &&
    matchesMonitored(event, filter) &&
    matchesUser(event, filter) &&
    hasMetadata(event, filter)
  );
}

/** Returns whether an event has the metadata key, and the value if one is given. Compares as text: `3` equals `"3"`. */
export function hasMetadata(event: Pick<AuditEvent, 'metadata'>, { metadata }: ParsedFilter): boolean {
  if (metadata === null) return true;
  if (!Object.hasOwn(event.metadata, metadata.key)) return false;
  const value: unknown = event.metadata[metadata.key];
  return (
    metadata.value === null || metadata.value === (typeof value === 'string' ? value : JSON.stringify(value))
  );
}

const DURATIONS = 'a whole number and one of s, m, h, d, w: `15m`, `24h`, `7d`';

/**
 * Parses a duration such as `24h` into milliseconds. Returns `null` if it is invalid or longer than a thousand years.
 */
export function parseDuration(value: string): number | null {
  const match = /^(\d{1,12})([smhdw])$/.exec(value.trim());
  if (match === null) return null;
  const UNIT_MS = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };
  const MOST_MS = 1_000 * 365 * 864e5;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return ms <= MOST_MS ? ms : null;
}

const ISO_TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

function readTime(filter: AuditFilter, field: 'since' | 'until', nowMs: number): number | null {
  const value = readText(filter, field)?.trim();
  if (value === undefined) return null;
  const agoMs = parseDuration(value);
  if (agoMs !== null) return nowMs - agoMs;
  const match = ISO_TIME.exec(value);
  const zone = match?.[4] ?? 'Z';
  const ms = match === null ? Number.NaN : Date.parse(getIso(value, match, zone));
  if (Number.isNaN(ms)) {
    throw new AuditFilterError(field, `is a time in ISO 8601, \`2026-01-31T12:00:00Z\`, or ${DURATIONS}`);
  }
  return ms;
}

/** Normalizes a time to the form that `Date.parse` is required to accept: `T`, milliseconds, a zone with a colon. */
function getIso(value: string, match: RegExpExecArray, zone: string): string {
  const date = value.slice(0, 10);
  if (match[1] === undefined) return `${date}T00:00:00Z`;
  const clock = match[1].slice(1, 6);
  const seconds = (match[2] ?? ':00').slice(0, 3);
  const fraction = (match[3] ?? '.0').slice(1, 4);
  const offset = /^z$/i.test(zone) ? 'Z' : zone.replace(/^(...):?(..)$/, '$1:$2');
  return `${date}T${clock}${seconds}.${fraction.padEnd(3, '0')}${offset}`;
}

function parseTag(filter: AuditFilter): string | null {
  const tag = readText(filter, 'data_tag')?.trim().toLowerCase();
  if (tag === undefined) return null;
  if (/^[a-z][a-z0-9_.-]{0,127}$/.test(tag)) return tag;
  throw new AuditFilterError('data_tag', 'is a dotted name such as `personal.pii`');
}

function parseMetadata(filter: AuditFilter): ParsedFilter['metadata'] {
  const key = readText(filter, 'metadata_key');
  const value = readText(filter, 'metadata_value');
  if (key === null && value !== null) throw new AuditFilterError('metadata_value', 'needs `metadata_key`');
  return key === null ? null : { key, value };
}

function parseLimit(filter: AuditFilter): number {
  const limit = filter.limit ?? LIMIT_DEFAULT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new AuditFilterError('limit', `is a whole number from 1 to ${LIMIT_MAX}`);
}

/** Returns the text of a field; `null` if the field is absent. */
function readText(filter: AuditFilter, field: keyof AuditFilter): string | null {
  const value = filter[field];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS_MAX) return value;
  throw new AuditFilterError(field, `is a text of 1 to ${VALUE_CHARS_MAX} characters`);
}
