import type { Action, Boundary, CheckName, Json, Phase, Severity, Tag } from './enums.ts';
import type { Label } from './flow.ts';
import type { AgentTier } from './principal.ts';

/** Values of the setting `detection.example_values`. */
export const EXAMPLE_VALUES = ['flag', 'real', 'ignore'] as const;

export type ExampleValueMode = (typeof EXAMPLE_VALUES)[number];

/** A sum or a count over calls, as a condition writes it: `sum("issue_refund.amount", "24h", "user")`. */
export interface WrittenTotal {
  readonly function: 'sum' | 'count';
  /** The tool, and for a sum its argument: `issue_refund.amount`. */
  readonly path: string;
  readonly window: string;
  readonly scope: string;
}

/** Values for the last parameter in `sum` and `count`: whose calls are added. */
export const TOTAL_SCOPES = ['user', 'agent', 'session', 'tenant'] as const;
export type TotalScope = (typeof TOTAL_SCOPES)[number];

/** A sum or a count that rules read. */
export interface TotalQuery extends WrittenTotal {
  readonly scope: TotalScope;
  readonly tool: string;
  /** Member names, joined by dots; `null` for a count. */
  readonly argument: string | null;
  readonly window_ms: number;
}

/** A condition's reads beyond the crossing's facts. */
export interface ConditionReads {
  /** Arguments, as `amount` or `items[0].id`; empty text for all. */
  readonly arguments: readonly string[];
  readonly totals: readonly TotalQuery[];
  /** Set if the result also depends on the tag for which the rule is evaluated. */
  readonly names_tag?: true;
  /** Set if the result also depends on where values come from. */
  readonly names_origin?: true;
}

/** One compiled rule. Empty lists do not restrict, except `data_tags`. */
export interface Rule {
  readonly name: string;
  readonly boundaries: readonly Boundary[];
  /** Phases of `action` to which the rule applies. */
  readonly phases: readonly Phase[];
  /** If empty, the rule matches the crossing itself (its tool, its agent) and is not evaluated for tags. */
  readonly data_tags: readonly Tag[];
  readonly action: Action;
  /** `null` makes the rule global. */
  readonly tenant_id: string | null;
  /** Exact names, or patterns in which `*` matches any run of characters. */
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  /**
   * People, by exact names or wildcards, and groups: the proved person must be listed or in a listed group. Absent for
   * all calls, with or without a person.
   */
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  /** Absent for all tiers, known or not. */
  readonly agent_tiers?: readonly AgentTier[];
  /**
   * Each of these tags, or a descendant of it, must be among the session's taint tags. If empty, any session matches.
   */
  readonly session_tags: readonly Tag[];
  /** Condition in CEL; `null` if the rule has none. */
  readonly when: string | null;
  /** Absent if the condition reads no arguments and no totals. */
  readonly reads?: ConditionReads;
  /** Lower values are evaluated first. Rules of equal priority keep the order of definition. */
  readonly priority: number;
  readonly reason: string;
  /**
   * The rule is evaluated only for findings of at least this severity, and for tags without a finding; `null` means
   * for all.
   */
  readonly severity_min: Severity | null;
  /**
   * The rule is evaluated only for findings of these detectors: exact IDs, or patterns in which `*` matches any run of
   * characters. Absent for all, and for tags without a finding.
   */
  readonly rule_ids?: readonly string[];
  /** Replaces the severity of the finding in violations; `null` keeps it. */
  readonly severity: Severity | null;
  readonly fallback_template: string | null;
  readonly enforcement: 'enforce' | 'monitor';
  /** The terms of an approval, used if the action is `require_approval`. */
  readonly approval: {
    readonly ttl_ms: number;
    readonly min_approvals: number;
    /** Approvers must have just proved a second factor. */
    readonly require_second_factor?: true;
  };
}

/** Change to the taint tags of a session when a crossing is not blocked. Removals apply before additions. */
export interface TaintChange {
  /** Tags to add. Some of them may already be set. */
  readonly add: readonly Tag[];
  /** Tags to remove, with their descendants. `all` removes every tag. */
  readonly remove: readonly Tag[] | 'all';
}

/** A rule that changes the taint tags of a session if it matches and the crossing is not blocked. */
export interface TaintRule
  extends Pick<
    Rule,
    | 'name'
    | 'boundaries'
    | 'phases'
    | 'data_tags'
    | 'tenant_id'
    | 'tools'
    | 'agents'
    | 'users'
    | 'groups'
    | 'agent_tiers'
    | 'session_tags'
    | 'when'
    | 'reads'
  > {
  readonly change: TaintChange;
}

/** Terms for the arguments, the result and the side effects of a tool. */
export interface ToolContract {
  readonly tool_name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments; `null` accepts any arguments. */
  readonly arguments: Json | null;
  /** Tags that the arguments may carry. An empty list accepts only untagged data; `null` does not restrict. */
  readonly accepts: { readonly tags: readonly Tag[] | null; readonly fields: readonly string[] };
  /** Agents that may call the tool, as exact names or wildcards. If empty, any agent may. */
  readonly allowed_agents: readonly string[];
  /** Calls by one agent within any 60 seconds; `null` means no limit. */
  readonly max_calls_per_minute: number | null;
  /** Scopes that the proved person must all have. Absent for none. */
  readonly required_scopes?: readonly string[];
  /** Calls for one person within any 60 seconds, over all agents. Absent for no limit. */
  readonly max_calls_per_minute_per_user?: number;
  readonly emits: ResultTerms;
  /** The origins that argument values must have; absent if they are not checked. */
  readonly flow?: FlowTerms;
  /** The trusted label for the store that the tool writes. Values without a trusted origin end it for the session. */
  readonly writes?: Label;
  readonly stores: { readonly fields: readonly string[]; readonly retention_ms: number | null };
  readonly side_effects: {
    readonly reversible: boolean;
    readonly requires_approval: boolean;
    /** `true` if the call sends data out. The call then carries the tag `egress.tool`. */
    readonly egress: boolean;
    readonly description: string;
  };
  readonly tenant_id: string | null;
  readonly enforcement: 'enforce' | 'monitor';
}

/** Tools that an agent may call and tags that it may read. */
export interface AgentIdentity {
  readonly agent_id: string;
  readonly description: string;
  /** Exact names or wildcards. If empty, any tool. */
  readonly tools: readonly string[];
  /**
   * People, by exact names or wildcards, and groups for whom the agent may act: a listed person, or a person in a
   * listed group. If both are absent, anyone and no one.
   */
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  /** Each tag covers its descendants. If empty, any tag. */
  readonly clearance_tags: readonly Tag[];
  /** Each call must name a task. */
  readonly require_task?: true;
  readonly tenant_id: string | null;
  readonly enforcement: 'enforce' | 'monitor';
}

/** One field of a memory schema. */
export interface MemoryField {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'object';
  readonly tag: Tag;
  readonly retention_ms: number;
  /** Limit of one value, as UTF-8 bytes of its JSON. */
  readonly value_bytes_max: number;
  /** Returns a handle instead of the value on reads. Stored values are always encrypted. */
  readonly encrypted: boolean;
  /** If `true`, a read reports the field as missing when it has no value, and one entry stays reserved for it. */
  readonly required: boolean;
}

export interface MemorySchema {
  readonly name: string;
  readonly scope: 'session' | 'user' | 'global';
  readonly fields: readonly MemoryField[];
  /** Limit for each agent, and in scope `session` or `user` also for each session or user. */
  readonly max_entries: number;
  readonly tenant_id: string | null;
}

/** Settings of the detectors: the enabled groups, thresholds, custom patterns and the allowlist. */
export interface Detection {
  readonly secret_detection: boolean;
  readonly pii_protection: boolean;
  readonly injection_detection: boolean;
  readonly command_detection: boolean;
  /** Programs that run the rest of their line, in addition to those that are known; absent if there are none. */
  readonly command_wrappers?: readonly string[];
  /** Mode for documented example secrets: flag them, treat them as real secrets, or ignore them. */
  readonly example_values: ExampleValueMode;
  /** Sums of phrase weights from which text is a finding, and from which the finding is severe. */
  readonly injection_thresholds: { readonly flag_threshold: number; readonly block_threshold: number };
  readonly detectors: readonly DetectorSetting[];
  readonly patterns: readonly CustomPattern[];
  readonly allowlist: readonly AllowedFingerprint[];
  /** Detectors that a person allows for a time; absent if there are none. */
  readonly allowed_detectors?: readonly AllowedDetector[];
  readonly guarded_paths?: GuardedPaths;
}

/** Overrides for detectors. If several settings match a detector, the most specific name that sets a member wins. */
export interface DetectorSetting {
  /** Id or family of a detector, or a tag that covers its descendants. */
  readonly name: string;
  readonly enabled: boolean | null;
  readonly severity: Severity | null;
  /** Minimum entropy of a matched value, in bits per character. */
  readonly entropy_min: number | null;
}

/** A custom detector from the configuration or a plug-in. Its pattern runs in an engine with linear time. */
export interface CustomPattern {
  readonly id: string;
  readonly detector: string;
  readonly tags: readonly [Tag, ...Tag[]];
  readonly severity: Severity;
  readonly description: string;
  /** Pattern in the syntax of RE2. A group named `value` narrows the finding. */
  readonly pattern: string;
  /** Literals of which each match contains at least one, in the notation of `detect/matching/anchors.ts`. */
  readonly anchors: readonly string[];
  /**
   * Limits in UTF-16 units: of the text that precedes the anchor in a match, and of the text that one attempt scans.
   */
  readonly before_units_max: number;
  readonly units_max: number;
  readonly checks?: readonly CheckName[];
  readonly entropy_min?: number;
}

/** An allowlisted value. Only its keyed hash is stored. */
export interface AllowedFingerprint {
  /** `hmac-sha256:` followed by 64 hex digits. */
  readonly fingerprint: string;
  /** The tenant to whose crossings the entry applies; absent or `null` for all tenants. */
  readonly tenant_id?: string | null;
  readonly reason: string;
  readonly owner: string;
  /** Milliseconds since 1970, UTC. The entry has no effect from this time on. */
  readonly expires_ms: number;
}

/** An allowlisted detector. Each scope that is not `null` must match: a tool, an agent, a tenant. */
export interface AllowedDetector {
  /** `alw_` followed by 24 hex digits. */
  readonly id: string;
  readonly rule_id: string;
  readonly tool: string | null;
  readonly agent_id: string | null;
  readonly tenant_id: string | null;
  readonly reason: string;
  readonly owner: string;
  /** Milliseconds since 1970, UTC. The entry has no effect from this time on. */
  readonly expires_ms: number;
}

/** Limits of one scan. Exceeding any of them is a `coverage_exceeded` violation, which blocks. */
export interface ScanLimits {
  /** UTF-8 bytes of all text in one crossing. */
  readonly text_bytes_max: number;
  readonly depth_max: number;
  /** Keys and values of a JSON payload, counted together. */
  readonly nodes_max: number;
  readonly findings_max: number;
}

/**
 * Compiled rules, contracts, identities and detector settings. A policy is frozen, plain JSON and has a content hash.
 */
export interface Policy {
  /** `sha256:` and 64 hex digits, over the canonical JSON of all other members. */
  readonly hash: string;
  readonly default_action: Action;
  /** Tenant and global rules in the order of evaluation. */
  readonly rules: readonly Rule[];
  readonly builtin_rules: readonly Rule[];
  /** Rules that change session taint tags, in the order of definition. */
  readonly taint_rules: readonly TaintRule[];
  readonly contracts: readonly ToolContract[];
  readonly identities: readonly AgentIdentity[];
  readonly memory_schemas: readonly MemorySchema[];
  readonly undeclared_tools: 'allow' | 'block';
  readonly unknown_agents: 'allow' | 'block';
  readonly detection: Detection;
  readonly limits: ScanLimits;
  /** Marker of redacted text. `typed` writes `[REDACTED:ssn]` instead of `[REDACTED]`. */
  readonly redaction: { readonly typed: boolean };
}

/** Terms of a contract for the result of its tool. */
export interface ResultTerms {
  /** Tags that the result may carry; `null` does not restrict. */
  readonly tags: readonly string[] | null;
  /** Dotted paths of the fields to keep. If empty, all fields are kept. */
  readonly fields: readonly string[];
  /** If set, data that the agent may not receive is masked. Otherwise the result is blocked. */
  readonly on_violation?: 'redact';
  /** The label for all values without one in `labels`; absent for `untrusted.<tool>`. */
  readonly origin?: Label;
  /** Labels by path: `items[].body`. The most specific path counts. Absent if there are none. */
  readonly labels?: Readonly<Record<string, Label>>;
}

/** A contract's terms on where argument values come from. */
export interface FlowTerms {
  readonly arguments: Readonly<Record<string, ArgumentFlow>>;
  /** Terms for all other arguments. */
  readonly others: ArgumentFlow;
  /** The prompt must have one of these words; if empty, any prompt will do. */
  readonly intent: readonly string[];
  /** Action if the prompt has none of these words. */
  readonly otherwise: FlowAction;
}

export const FLOW_ACTIONS = ['block', 'require_approval'] as const;
export type FlowAction = (typeof FLOW_ACTIONS)[number];

/** Composite values that are checked part by part: a URL, an address list, prose with addresses, a shell command. */
export const COMPOSITE_TYPES = ['url', 'addresses', 'text', 'command'] as const;
export type CompositeType = (typeof COMPOSITE_TYPES)[number];

/** Terms for one argument's origin. */
export interface ArgumentFlow {
  /** Labels that permit a value, each with its descendants; also `any`, `unknown` and `trivial`. */
  readonly any_of: readonly string[];
  /** Labels that refuse a value even if another one permits it; absent if there are none. */
  readonly none_of?: readonly Label[];
  readonly otherwise: FlowAction;
  /** If `true`, a call may leave the argument out. */
  readonly optional: boolean;
  readonly type?: CompositeType;
}

/** Files that control the service. A guarded agent may not change them. All paths are absolute. */
export interface GuardedPaths {
  /** Home folder of the user; `null` if there is none. */
  readonly home: string | null;
  /** Folder of the configuration. */
  readonly base_dir: string;
  /** Folders with tokens, keys and records. Agents may not read them either. */
  readonly state_dirs: readonly string[];
  /** Globs of the configuration and its documents. */
  readonly files: readonly string[];
}
