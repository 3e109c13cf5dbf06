import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import type { ChainState } from '../../runtime/audit/window-types.ts';
import type { ControlMapping, MappingSource } from './mapping-types.ts';

/** Counts of events by the action of the rule that decided. */
export interface ActionCounts {
  readonly allow: number;
  readonly flag: number;
  readonly redact: number;
  readonly require_approval: number;
  readonly block: number;
}

/** The state of a control in the window. */
export const CONTROL_STATUSES = ['enforced', 'partly', 'gap', 'outside this service'] as const;
export type ControlStatus = (typeof CONTROL_STATUSES)[number];

/** A part of the service that carried a control, and when it did. */
export interface ControlElement {
  readonly kind: 'rule' | 'mechanism';
  /** The rule's name, or the title of the mechanism. */
  readonly name: string;
  /** `blocks in input and tool calls`, `4 contracts`. */
  readonly detail: string;
  /** The tenant of the rule; `null` for all tenants. */
  readonly tenant_id: string | null;
  /** The times in which it was active, in monitor mode or absent. Together they cover the window. */
  readonly states: readonly ElementState[];
}

export interface ElementState {
  /** `available`: a part of the service; its events show whether it was used. */
  readonly state: 'active' | 'available' | 'monitor' | 'inactive';
  readonly since: string;
  readonly until: string;
}

/** A part of a control that was missing. */
export interface ControlGap {
  /**
   * `policy`: the policy did not act. `detector`: a detector was off. `record`: the journal or the policy is not there.
   * `framework`: the clause asks for more than this service can give.
   */
  readonly kind: 'policy' | 'detector' | 'record' | 'framework';
  /** A sentence without the names of tenants. */
  readonly message: string;
  /** The tenants that the gap concerns; `null` for all tenants of the report. */
  readonly tenants: readonly string[] | null;
  /** The tenant whose own rule the message names; `null` if it names none. */
  readonly tenant_id: string | null;
  /** The time span of the gap; `null` for `framework`. */
  readonly since: string | null;
  readonly until: string | null;
}

/** Events that are evidence of a control. */
export interface EvidenceCount {
  readonly kind: 'rule' | 'tag' | 'event';
  readonly name: string;
  readonly events: number;
  readonly actions: ActionCounts;
  readonly first: string;
  readonly last: string;
}

export interface ControlReport
  extends Pick<
    ControlMapping,
    'control_id' | 'title' | 'requirement' | 'contribution' | 'permissions' | 'settings'
  > {
  readonly status: ControlStatus;
  /**
   * The requirements on this service that were met: `all` of them during the whole window, `some`, or `none`; `null` for a
   * control outside this service.
   */
  readonly active: 'all' | 'some' | 'none' | null;
  readonly elements: readonly ControlElement[];
  readonly evidence: {
    /** Counts by rule, by tag and by kind of event. An event can be in several rows, so that they have no sum. */
    readonly counts: readonly EvidenceCount[];
    /** Newest first. */
    readonly sample_event_ids: readonly string[];
  };
  readonly gaps: readonly ControlGap[];
}

/** A policy under which events of the window were decided. */
export interface ReportedPolicy {
  readonly policy_hash: string;
  /** `false` if the state folder no longer has it: what it enforced is not known then. */
  readonly saved: boolean;
  readonly rules: number;
  readonly monitored_rules: number;
  readonly contracts: number;
  readonly identities: number;
  readonly intervals: readonly { readonly since: string; readonly until: string }[];
}

/** A change of the policy or of the service that the journal recorded in the window. */
export interface RecordedChange {
  readonly event_id: string;
  readonly timestamp: string;
  readonly kind: string;
  /** `false` if the change was refused. */
  readonly done: boolean;
  readonly caller_id: string;
  readonly policy_hash: string;
}

/** A compliance report: plain JSON, the same for the same journal, window and policies. */
export interface ComplianceReport {
  readonly report_version: 1;
  readonly framework: FrameworkId;
  readonly title: string;
  readonly edition: string;
  readonly mapping: {
    readonly reviewed: string;
    /** SHA-256 over the mapping file, so that a report names the mapping that it was made with. */
    readonly hash: string;
    readonly sources: readonly MappingSource[];
  };
  readonly scope: readonly string[];
  /** The end of the window: no other time of its making is in a report. */
  readonly generated_at: string;
  readonly window: {
    /** Inclusive. */
    readonly since: string;
    /** Exclusive. */
    readonly until: string;
    /** As the caller wrote it; `null` for a window with two times. */
    readonly last: string | null;
    /** The first decision that is on record, from which on controls are shown; `null` if there is none. */
    readonly recorded_since: string | null;
  };
  /** The tenants and agents whose events count; `null` for all. */
  readonly tenants: readonly string[] | null;
  readonly agents: readonly string[] | null;
  readonly summary: ReportSummary;
  readonly evidence: {
    /** Newest first, 20 at most. */
    readonly sample_event_ids: readonly string[];
    readonly sample_approval_ids: readonly string[];
  };
  /** Parts of the window that the journal or the saved policies do not cover. They concern all controls. */
  readonly record_gaps: readonly ControlGap[];
  readonly controls: readonly ControlReport[];
  readonly policies: readonly ReportedPolicy[];
  /** Newest first, 100 at most. */
  readonly changes: readonly RecordedChange[];
  readonly journal: {
    /** The oldest event that is kept; `null` if there is none. */
    readonly oldest_event: string | null;
    /** The chains of the journal with the signed checkpoint that covers the window. */
    readonly chains: readonly ChainState[];
  };
}

export interface ReportSummary {
  /** Decisions and changes of the service; without the events of approval requests and self-tests. */
  readonly total_events: number;
  readonly boundary_counts: Readonly<Record<string, number>>;
  readonly action_counts: ActionCounts;
  /** Events whose action was `block`, `redact` or `require_approval`. */
  readonly policy_violation_count: number;
  /** Most frequent first, 10 at most. */
  readonly top_policies: readonly (readonly [name: string, events: number])[];
  /** Events by agent; most frequent first, 10 at most. */
  readonly data_access_by_agent: readonly (readonly [agent_id: string, events: number])[];
  readonly approval_stats: {
    /** The requests made in the window by their last status in it. */
    readonly counts: Readonly<Record<string, number>>;
    /** From the request to the approval or denial; three decimals; `null` without any. */
    readonly average_latency_seconds: number | null;
  };
  readonly memory_retention_events: number;
  /** Sentences. */
  readonly anomaly_flags: readonly string[];
  readonly control_counts: Readonly<Record<ControlStatus, number>>;
}
