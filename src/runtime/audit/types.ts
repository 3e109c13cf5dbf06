import type { Action, AgentTier, Boundary, Decision, Tag } from '../../core/types/index.ts';
import type { EventCount, EventCountQuery, SessionListQuery, SessionSummary } from './count-types.ts';
import type { WindowQueries } from './window-types.ts';

/** One event of the audit log: the decision, never the text that was evaluated. Plain JSON. */
export interface AuditEvent {
  /** `evt_` and 24 hex digits, which sort by time. */
  readonly event_id: string;
  /** ISO 8601, UTC, milliseconds: `2026-01-31T12:00:00.000Z`. */
  readonly timestamp: string;
  readonly boundary: Boundary | 'memory';
  readonly decision: Decision;
  readonly action: Action;
  /** The rule that decided. */
  readonly policy_name: string;
  readonly reason: string;
  readonly data_tags: readonly Tag[];
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly tool_name: string | null;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly caller_id: string;
  /** The person whom a credential proved. The e-mail address is in the audit log and in no export. */
  readonly user_id?: string;
  readonly user_email?: string;
  readonly groups?: readonly string[];
  /** A name that the caller only stated. */
  readonly claimed_user?: string;
  /** The agents that acted, the one next to the person first. */
  readonly chain?: readonly string[];
  readonly agent_tier?: AgentTier;
  readonly task_id?: string;
  readonly trace_id?: string;
  /** `sha256:` and hex over the canonical JSON (RFC 8785) of the fields that `hashContext` names. */
  readonly context_hash: string;
  readonly policy_hash: string;
  /** The revision of the managed policy, the keys and the blocked agents that was active. Only in a cluster. */
  readonly policy_revision?: number;
  readonly coverage: 'full' | 'partial';
  /** `phase` and the other details of the event: strings, numbers and booleans, or lists of strings. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  /**
   * The call as people see it, at most 2 KB. The journal keeps it outside the event, so that it can be erased; only
   * queries with `with_actions` return it.
   */
  readonly action_shown?: string;
  /** Its dangerous parts, in UTF-16 units. */
  readonly action_marks?: ActionMarks;
}

/** Ranges in a text: `[start, end]`, end exclusive. */
export type ActionMarks = readonly (readonly [start: number, end: number])[];

/** The fields of which an event must have one of several values. An absent list matches all events. */
export interface AuditFilterLists {
  readonly tenant_id?: readonly string[];
  readonly agent_id?: readonly string[];
  readonly action?: readonly string[];
}

/** The filters of an audit query, joined with AND. Times are ISO 8601 or durations; see `parseFilter`. */
export interface AuditFilter {
  readonly boundary?: string;
  readonly action?: string;
  readonly decision?: string;
  readonly policy_name?: string;
  readonly agent_id?: string;
  readonly tool_name?: string;
  /** Finds the tag and its descendants. */
  readonly data_tag?: string;
  readonly phase?: string;
  readonly session_id?: string;
  readonly event_id?: string;
  readonly source_agent_id?: string;
  readonly destination_agent_id?: string;
  readonly tenant_id?: string;
  readonly caller_id?: string;
  /** The proved person. */
  readonly user_id?: string;
  readonly metadata_key?: string;
  readonly metadata_value?: string;
  /** A rule in monitor mode that would have acted; `*` for any. */
  readonly monitored?: string;
  readonly since?: string;
  readonly until?: string;
  /** `15m`, `24h`, `7d`: overrides `since` and `until`. */
  readonly last?: string;
  /** Lists of values, of which one must match. They are for callers in the program and have no route. */
  readonly any_of?: AuditFilterLists;
  /** Leaves the events of approval requests out, which follow from a decision. */
  readonly decisions_only?: boolean;
  /** Adds `action_shown` to the events that have one. For people who read their events, not for prompts or exports. */
  readonly with_actions?: boolean;
  /** Leaves the events of compliance self-tests out. */
  readonly without_self_tests?: boolean;
  /** The time limit in milliseconds; default ten seconds. At the limit, a paged query answers with what it has found. */
  readonly timeout_ms?: number;
  readonly limit?: number;
  readonly newest_first?: boolean;
  /** The `next_cursor` of the previous page; empty for the first of several pages. */
  readonly cursor?: string;
  /** Limits the events that count as searched if none matches to those the caller may read; all events by default. */
  readonly scope?: Readonly<Partial<Record<'tenant_id' | 'agent_id' | 'caller_id', string>>>;
}

export interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly count: number;
  /** The cursor of the next page; `null` or absent if there are no more events. It survives a rebuild of the index. */
  readonly next_cursor?: string | null;
  /** The number of events in the time range and scope, if no event matches and the query is not paged. */
  readonly events_searched?: number;
}

/** Queries of the audit log. Each one finds every event that was durable before the call. */
export interface AuditQueries {
  readonly queryAudit: (filter: AuditFilter) => Promise<AuditPage>;
  /** Returns the caller of each of these events, by event ID. Events that are not recorded are absent. */
  readonly findEventCallers: (eventIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Counts events by one field. */
  readonly countEvents: (request: EventCountQuery) => Promise<readonly EventCount[]>;
  /** Lists sessions, most recent activity first. */
  readonly listAuditSessions: (request: SessionListQuery) => Promise<readonly SessionSummary[]>;
  /** Returns the last record of each chain of this state folder that was indexed, for verifying the journal. */
  readonly listIndexedHeads: () => Promise<
    ReadonlyMap<string, { readonly seq: number; readonly record_hash: string }>
  >;
  /** Queries of a window, for reports on it. */
  readonly auditWindow: WindowQueries;
}
