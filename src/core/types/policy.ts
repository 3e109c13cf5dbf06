import type { Action, Boundary, CheckName, Json, Phase, Severity, Tag } from './enums.ts';

/** The settings of `detection.example_values`. */
export const EXAMPLE_VALUES = ['flag', 'real', 'ignore'] as const;

export type ExampleValueMode = (typeof EXAMPLE_VALUES)[number];

/** One compiled rule. Lists that are empty do not restrict, but for `data_tags`: see `evaluate`. */
export interface Rule {
  readonly name: string;
  readonly boundaries: readonly Boundary[];
  /** Which phases of `action` it sees. */
  readonly phases: readonly Phase[];
  /** Empty: the rule is about the crossing itself (its tool, its agent), and is not asked about tags. */
  readonly data_tags: readonly Tag[];
  readonly action: Action;
  /** `null`: global. */
  readonly tenant_id: string | null;
  /** Exact names, or with `*` for any run of characters. */
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  /** All of these, or descendants of them, must be among the tags of the session; empty: any session. */
  readonly session_tags: readonly Tag[];
  /** A condition in CEL over facts; `null`: none. */
  readonly when: string | null;
  /** Lower first; equal ones keep the order of definition. */
  readonly priority: number;
  readonly reason: string;
  /** Asked only about findings of this severity or worse, and about tags without a finding; `null`: about all. */
  readonly severity_min: Severity | null;
  /** Replaces the finding's own severity in violations; `null` keeps it. */
  readonly severity: Severity | null;
  readonly fallback_template: string | null;
  readonly enforcement: 'enforce' | 'monitor';
  /** How long a person has, and how many must agree, where the action is `require_approval`. */
  readonly approval: { readonly ttl_ms: number; readonly min_approvals: number };
}

/** What a crossing that goes through makes of its session's tags: first some go, then others come. */
export interface TaintChange {
  /** What is read by letting it through; tags that the session has already may be among them. */
  readonly add: readonly Tag[];
  /** Tags that go, with their descendants; `all` is a reset. */
  readonly remove: readonly Tag[] | 'all';
}

/** What a rule makes of the session's tags where it fits and the crossing goes through. */
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
    | 'session_tags'
    | 'when'
  > {
  readonly change: TaintChange;
}

/** What a tool takes, gives, and does. */
export interface ToolContract {
  readonly tool_name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments; `null` accepts any. */
  readonly arguments: Json | null;
  /** Tags that the arguments may carry; empty accepts none but untagged data; `null` does not restrict. */
  readonly accepts: { readonly tags: readonly Tag[] | null; readonly fields: readonly string[] };
  /** Agents that may call it, exact names or wildcards; empty: any. */
  readonly allowed_agents: readonly string[];
  /** Calls of one agent within any sixty seconds; `null`: any number. */
  readonly max_calls_per_minute: number | null;
  readonly emits: ResultTerms;
  readonly stores: { readonly fields: readonly string[]; readonly retention_ms: number | null };
  readonly side_effects: {
    readonly reversible: boolean;
    readonly requires_approval: boolean;
    /** Whether data leaves with the call: it then carries the tag `egress.tool`. */
    readonly egress: boolean;
    readonly description: string;
  };
  readonly tenant_id: string | null;
  readonly enforcement: 'enforce' | 'monitor';
}

/** Who an agent is: the tools it may call and the tags it may see. */
export interface AgentIdentity {
  readonly agent_id: string;
  readonly description: string;
  /** Exact names or wildcards; empty: any tool. */
  readonly tools: readonly string[];
  /** A tag covers its descendants; empty: any tag. */
  readonly clearance_tags: readonly Tag[];
  readonly tenant_id: string | null;
  readonly enforcement: 'enforce' | 'monitor';
}

/** One field of a memory schema. */
export interface MemoryField {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'object';
  readonly tag: Tag;
  readonly retention_ms: number;
  /** UTF-8 bytes of one value as JSON. */
  readonly value_bytes_max: number;
  /** Returns a handle instead of the value on reads. Stored values are encrypted in any case. */
  readonly encrypted: boolean;
  /** Whether a read says that it is missing, and an entry is kept free for it. */
  readonly required: boolean;
}

export interface MemorySchema {
  readonly name: string;
  readonly scope: 'session' | 'user' | 'global';
  readonly fields: readonly MemoryField[];
  /** Of one agent, and in scope `session` or `user` of one session or user. */
  readonly max_entries: number;
  readonly tenant_id: string | null;
}

/** Which detectors look, for what else, and what of it counts. */
export interface Detection {
  readonly secret_detection: boolean;
  readonly pii_protection: boolean;
  readonly injection_detection: boolean;
  readonly command_detection: boolean;
  /** Whether documented example secrets are flagged, are secrets as any other, or are no findings. */
  readonly example_values: ExampleValueMode;
  /** From which sum of weights on phrases are a finding, and from which one a severe one. */
  readonly injection_thresholds: { readonly flag_threshold: number; readonly block_threshold: number };
  readonly detectors: readonly DetectorSetting[];
  readonly patterns: readonly CustomPattern[];
  readonly allowlist: readonly AllowedFingerprint[];
  readonly guarded_paths?: GuardedPaths;
}

/** What is otherwise for some detectors. Of several that name one, the most exact name that says something counts. */
export interface DetectorSetting {
  /** A detector's id, a family, or a tag that covers its descendants. */
  readonly name: string;
  readonly enabled: boolean | null;
  readonly severity: Severity | null;
  /** Bits per character that what is found must have at least. */
  readonly entropy_min: number | null;
}

/** A detector of the configuration or a plug-in: a pattern for an engine that takes linear time, and checks by name. */
export interface CustomPattern {
  readonly id: string;
  readonly detector: string;
  readonly tags: readonly [Tag, ...Tag[]];
  readonly severity: Severity;
  readonly description: string;
  /** In the notation of RE2. A group `value` narrows the finding. */
  readonly pattern: string;
  /** One of these is in every match, in the notation of `matching/anchors`. */
  readonly anchors: readonly string[];
  /** UTF-16 units that may stand in a match before its anchor, and the most that one try looks at. */
  readonly before_units_max: number;
  readonly units_max: number;
  readonly checks?: readonly CheckName[];
  readonly entropy_min?: number;
}

/** A value that may be there, known by its keyed hash alone. */
export interface AllowedFingerprint {
  /** `hmac-sha256:` and 64 hex digits. */
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** Milliseconds since 1970, UTC: from then on it allows nothing. */
  readonly expires_ms: number;
}

/** The bounds of one scan; past any of them the answer is `coverage_exceeded`, which blocks. */
export interface ScanLimits {
  /** UTF-8 bytes of all text in one crossing. */
  readonly text_bytes_max: number;
  readonly depth_max: number;
  /** Keys and values of a JSON payload, counted together. */
  readonly nodes_max: number;
  readonly findings_max: number;
}

/** Rules, contracts, identities and detector settings: compiled, frozen, plain JSON, with a content hash. */
export interface Policy {
  /** `sha256:` and 64 hex digits over the canonical JSON of all else in here. */
  readonly hash: string;
  readonly default_action: Action;
  /** Tenant and global rules in the order in which they are asked. */
  readonly rules: readonly Rule[];
  readonly builtin_rules: readonly Rule[];
  /** What rules make of sessions, in the order of their rules. */
  readonly taint_rules: readonly TaintRule[];
  readonly contracts: readonly ToolContract[];
  readonly identities: readonly AgentIdentity[];
  readonly memory_schemas: readonly MemorySchema[];
  readonly undeclared_tools: 'allow' | 'block';
  readonly unknown_agents: 'allow' | 'block';
  readonly detection: Detection;
  readonly limits: ScanLimits;
  /** What stands where text was taken out. `typed` writes `[REDACTED:ssn]` instead of `[REDACTED]`. */
  readonly redaction: { readonly typed: boolean };
}

/** What a contract says about the result of its tool. */
export interface ResultTerms {
  /** Tags that the result may carry; `null` does not restrict. */
  readonly tags: readonly string[] | null;
  /** Dotted paths of the fields that are kept; empty keeps all. */
  readonly fields: readonly string[];
  /** Data that the agent may not get is masked; without it the result is blocked. */
  readonly on_violation?: 'redact';
}

/** The files by which a service decides: an agent that it guards may not change them. All paths are absolute. */
export interface GuardedPaths {
  /** The home folder of the user; `null` where there is none. */
  readonly home: string | null;
  /** The folder of the configuration. */
  readonly base_dir: string;
  /** Folders with tokens, keys and records: not read either. */
  readonly state_dirs: readonly string[];
  /** The configuration and its documents, as globs. */
  readonly files: readonly string[];
}
