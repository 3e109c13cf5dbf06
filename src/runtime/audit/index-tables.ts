import { type Insertable, sql } from 'kysely';

/** The tables that answer queries. All of them can be rebuilt from the journal. */
export interface IndexTables {
  readonly audit_events: {
    event_id: string;
    timestamp_ms: number;
    writer: string;
    /** The event's number in its writer's chain; orders events with the same timestamp. */
    seq: number;
    boundary: string;
    decision: string;
    action: string;
    policy_name: string;
    agent_id: string;
    tool_name: string | null;
    session_id: string | null;
    source_agent_id: string | null;
    destination_agent_id: string | null;
    tenant_id: string;
    caller_id: string;
    phase: string | null;
    /** The whole event as JSON. */
    event: string;
  };
  /** The calls that people may see. `action_marks` is JSON. */
  readonly shown_actions: { event_id: string; action_shown: string; action_marks: string };
  /** Each tag of an event, and each ancestor of the tag: `personal.pii` also as `personal`. */
  readonly audit_event_tags: { tag: string; timestamp_ms: number; seq: number; event_id: string };
  /**
   * The number of events by the value of one field, in periods of several lengths. Every
   * row also has the tenant, the agent, the decision and the action, so that counts can be narrowed by them.
   */
  readonly audit_counts: {
    width_ms: number;
    field: string;
    /** The beginning of the period, in milliseconds since 1970. */
    bucket_ms: number;
    tenant_id: string;
    agent_id: string;
    value: string;
    decision: string;
    action: string;
    event_count: number;
    first_ms: number;
    last_ms: number;
  };
  /** One row for each agent in each session. */
  readonly audit_sessions: {
    tenant_id: string;
    session_id: string;
    agent_id: string;
    event_count: number;
    block_count: number;
    first_ms: number;
    last_ms: number;
  };
  /** The number of events that were decided under a policy, in periods of five minutes. */
  readonly audit_policies: {
    bucket_ms: number;
    policy_hash: string;
    event_count: number;
    first_ms: number;
    last_ms: number;
  };
  /** The position up to which each writer's chain was read. */
  readonly journal_positions: {
    writer: string;
    segment: number;
    byte_offset: number;
    seq: number;
    record_hash: string | null;
    /**
     * A line that was read once and is missing now, without a cut that explains it. `verifyJournal` gets it as a known
     * head.
     */
    lost_seq: number | null;
    lost_hash: string | null;
    /** The last event of a chain that was indexed again after its order among other writers' events was lost. */
    unordered_seq: number | null;
  };
}

/** A row of `audit_events` to insert. */
export type EventRow = Insertable<IndexTables['audit_events']>;

/**
 * The condition of the index of incidents. The comparison with 1 keeps SQLite from choosing the index of actions, whose
 * rows it would have to sort.
 */
export const INCIDENT_CONDITION = sql<boolean>`(action in ('redact', 'require_approval', 'block')) = 1`;
