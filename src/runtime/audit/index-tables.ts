import type { Generated, Insertable, Selectable } from 'kysely';

/** The tables that answer queries. All of them can be rebuilt from the journal. */
export interface IndexTables {
  readonly audit_events: {
    event_id: string;
    timestamp_ms: number;
    /** The state folder whose journal has the event; empty in an index of one state folder. */
    node: Generated<string>;
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
    node: Generated<string>;
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
  /** One row for each agent in each session and state folder. */
  readonly audit_sessions: {
    node: Generated<string>;
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
    node: Generated<string>;
    bucket_ms: number;
    policy_hash: string;
    event_count: number;
    first_ms: number;
    last_ms: number;
  };
  /** The position up to which each writer's chain was read. */
  readonly journal_positions: {
    node: Generated<string>;
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

/** A row of `audit_events` to insert. The writer of the index adds the state folder. */
export type EventRow = Omit<Insertable<IndexTables['audit_events']>, 'node'>;

/** Rows without their state folder, by table. */
export type IndexRows = {
  readonly [Table in keyof IndexTables]: Omit<Selectable<IndexTables[Table]>, 'node'>;
};

/** The tables whose rows are sums, one for each key. */
export type CountsTable = 'audit_counts' | 'audit_sessions' | 'audit_policies';

/** The columns that tell the sums of a table apart, without the state folder. */
export const COUNT_KEYS = {
  audit_counts: ['width_ms', 'field', 'bucket_ms', 'tenant_id', 'agent_id', 'value', 'decision', 'action'],
  audit_sessions: ['tenant_id', 'session_id', 'agent_id'],
  audit_policies: ['bucket_ms', 'policy_hash'],
} as const satisfies { readonly [Table in CountsTable]: readonly (keyof IndexRows[Table])[] };
