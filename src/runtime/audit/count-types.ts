/** The fields by which events are counted as they are indexed. */
export const TALLY_FIELDS = [
  'boundary',
  'rule',
  'tool',
  'tag',
  /** Each tag and its ancestors, once per event: `personal.pii` also counts as `personal`. */
  'tag_family',
  /** `<boundary>/<detector>`. */
  'detector',
  /** `<rule>:<action>` of rules in monitor mode. */
  'monitored',
  /** The fingerprints of allowlisted values that were found. */
  'allowlisted',
  'model',
  /** `<coding agent>/<its event>`. */
  'hook',
] as const;
export type TallyField = (typeof TALLY_FIELDS)[number];

/** Marks the values of events of approval requests. No name contains a control character. */
export const APPROVAL_MARK = '\u0001';

/** The shortest period: five minutes. Every other period begins and ends on a multiple of it. */
export const SHORT_PERIOD_MS = 300_000;
export const LONG_PERIOD_MS = 86_400_000;
/** The lengths of the counted periods: a day, an hour, five minutes. Longer ones cover the middle of a period. */
export const PERIODS_MS: readonly number[] = [LONG_PERIOD_MS, 3_600_000, SHORT_PERIOD_MS];

/** The fields by which events are counted. */
export type CountField = TallyField | 'agent' | 'tenant';

/** A request to count events by one field, their decision and their action. */
export interface EventCountQuery {
  readonly by: CountField;
  /** Inclusive; rounded down to five minutes. Milliseconds since 1970; `null` counts all events there ever were. */
  readonly since_ms: number | null;
  /** Exclusive; rounded up to five minutes. */
  readonly until_ms: number;
  /** The tenants and agents whose events count; `*` for all. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  /** Splits the counts into periods of this length, a multiple of five minutes; `null` for one count. */
  readonly bucket_ms?: number | null;
  /** Splits the counts by tenant, or by agent. */
  readonly split?: 'tenant' | 'agent' | null;
  /** Counts these values only. */
  readonly values?: readonly string[];
  /** Also counts the events of approval requests, which follow from a decision that is counted already. */
  readonly approval_events?: boolean;
}

/** The number of events that have the same values. A query may return several rows of one value. */
export interface EventCount {
  readonly value: string;
  /** The tenant or agent, as `split` asks; `null` without it. */
  readonly split: string | null;
  /** The beginning of the period; `null` if the counts are not split by time. */
  readonly bucket_ms: number | null;
  readonly decision: string;
  readonly action: string;
  readonly count: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** A request for sessions, most recent activity first. */
export interface SessionListQuery {
  /** Sessions with an event since then; milliseconds since 1970. */
  readonly since_ms: number;
  /** The tenants and agents whose sessions are listed; `*` for all. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  readonly limit: number;
  /** The last session of the page before; `null` for the first page. */
  readonly after: SessionPosition | null;
}

/** The position of a session in the list. */
export interface SessionPosition {
  readonly last_ms: number;
  readonly tenant_id: string;
  readonly session_id: string;
}

/** The events of one session, of the agents that the caller sees. */
export interface SessionSummary extends SessionPosition {
  readonly agent_ids: readonly string[];
  readonly event_count: number;
  readonly block_count: number;
  readonly first_ms: number;
}
