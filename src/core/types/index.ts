/** The words of the product, as types, all of them plain data. Fields are snake_case, as in YAML, JSON and SQL. */

import type {
  Action,
  Boundary,
  CheckName,
  Decision,
  Json,
  Phase,
  Severity,
  Tag,
  ViolationType,
} from './enums.ts';
import type { GuardedPaths } from './guarded-paths.ts';
import type { JsonSource, Splice } from './json.ts';
import type { ResultTerms } from './result-terms.ts';

export * from './enums.ts';
export type { DocumentProblem } from './problem.ts';

/** What crosses: text, or a JSON value. With a `source` its text is what is scanned, and changed by splices. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: Json; readonly source?: JsonSource };

/**
 * One thing crossing one boundary: the only value that holds raw text. All that `judge` needs to know of
 * the world outside stands in here, for it can read no clock and no store.
 */
export interface Crossing {
  readonly boundary: Boundary;
  /** `null` at `input` and `output`; never `null` at `action`. */
  readonly phase: Phase | null;
  readonly content: Content;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  /** The tool's name at `action`; at the other boundaries the tool that the caller says is concerned. */
  readonly tool: string | null;
  /** Tags that the caller declares; they are added to those that are found, never instead of them. */
  readonly declared_tags: readonly Tag[];
  /** Names of rules whose `require_approval` a person has granted for exactly this crossing. */
  readonly approved_rules?: readonly string[];
  /** What the session has read so far, as far as anyone keeps it; absent is the same as nothing. */
  readonly session_tags?: readonly Tag[];
  /** Calls of this tool by this agent within the last minute, this one included; absent where nobody counts. */
  readonly calls_last_minute?: number;
  /** The capability token that was shown for it; absent where none was. */
  readonly capability?: {
    /** Its name, which is no token; `null` where nobody knows it. */
    readonly token_id: string | null;
    /** Why it does not allow this; `null` where it does. */
    readonly refusal: { readonly rule: string; readonly reason: string } | null;
  };
  /** What goes into an agent's memory (`request`) or comes out of it (`response`); of all others, nothing. */
  readonly memory?: MemoryUse;
  readonly identity_places?: readonly Pick<Finding, 'leaf' | 'start' | 'end'>[];
  /** Whether the sender cannot take changed content: it goes on as it is, or not at all. */
  readonly is_unchangeable?: boolean;
  /** The folder in which the agent's relative paths begin, where the caller says so. */
  readonly working_dir?: string;
  /** Milliseconds since 1970, UTC. */
  readonly now_ms: number;
}

/** All of a crossing but what crosses: who, where and when. */
export type CrossingContext = Omit<Crossing, 'content'>;

/** Which part of an agent's memory a crossing is about: names that stand in the policy, never a caller's words. */
export interface MemoryUse {
  readonly operation: 'write' | 'read' | 'resolve';
  /** The memory document and its field; `null` where none is known. */
  readonly schema: string | null;
  readonly key: string | null;
  readonly scope: MemorySchema['scope'] | null;
  /** The entry, as `hdl_` and 32 hex digits. */
  readonly handle_id: string | null;
  /** The tag of the field, where its value crosses. The document lets it pass as long as no rule names it. */
  readonly tag: Tag | null;
}

/** Where a detector saw something. Offsets only: a finding never holds the text. */
export interface Finding {
  /** The exact detector, `openai.api_key`. */
  readonly rule_id: string;
  /** The detector's family, `api_key`: the wire's `detector`. */
  readonly detector: string;
  readonly type: ViolationType;
  readonly severity: Severity;
  /** At least one; the first is the main one. */
  readonly tags: readonly [Tag, ...Tag[]];
  /** UTF-16 offsets into the leaf's text, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Which leaf of a JSON value, counted in the order of `walk` (core/payload); 0 for text. */
  readonly leaf: number;
  /** The leaf's path, `$.user.email`, `$.items[0]`; `null` for text. */
  readonly path: string | null;
  /** Set for a documented example secret, on which no rule acts more strictly than `flag`. */
  readonly example?: true;
}

/** The settings of `detection.example_values`. */
export const EXAMPLE_VALUES = ['flag', 'real', 'ignore'] as const;
export type ExampleValueMode = (typeof EXAMPLE_VALUES)[number];

/** A finding with what the policy makes of it. */
export interface JudgedFinding extends Finding {
  /** What the detector said; a rule's own severity may stand in its place in `severity`. */
  readonly detected_severity: Severity;
  readonly action: Action;
  /** The name of the rule that decided on it. */
  readonly rule: string;
}

/** A finding that is let be, for its fingerprint is on the list: no rule is asked about it. */
export interface AllowlistedFinding extends Finding {
  readonly fingerprint: string;
}

/** A broken promise that is no place in a text: a contract, an identity, a limit. */
export interface Violation {
  readonly type: ViolationType;
  /** What was broken, `arguments`, `accepts.tags`, `tools`, `scan.text_bytes_max`. */
  readonly rule: string;
  readonly severity: Severity;
  /** Where, as a JSON path into the arguments or the result; `null` where there is no place. */
  readonly path: string | null;
  /** One sentence for a person, without any matched text. */
  readonly reason: string;
}

/** How much of the content was looked at. `reason` names the limit where it was not all. */
export type Coverage =
  | { readonly status: 'full' }
  | { readonly status: 'partial'; readonly reason: string; readonly bytes: number };

/** A rule under `enforcement: monitor` that would have acted. */
export interface MonitoredRule {
  readonly rule: string;
  readonly action: Action;
  /** `null` where the rule is about the crossing and not about a tag. */
  readonly tag: Tag | null;
}

/** What people would have to grant for the crossing to go on: the names of all rules that ask, each once. */
export interface ApprovalRequirement {
  readonly rules: readonly string[];
  /** The shortest time that one of them gives. */
  readonly ttl_ms: number;
  /** The most people that one of them asks for. */
  readonly min_approvals: number;
}

/** What a policy decides for one crossing. */
export interface DecisionResult {
  readonly decision: Decision;
  readonly action: Action;
  readonly rule: string;
}

/** What a crossing that goes through makes of its session's tags: first some go, then others come. */
export interface TaintChange {
  /** What is read by letting it through; tags that the session has already may be among them. */
  readonly add: readonly Tag[];
  /** Tags that go, with their descendants; `all` is a reset. */
  readonly remove: readonly Tag[] | 'all';
}

/** The answer of `judge`. It holds changed text only in `content`, and nothing that was matched elsewhere. */
export interface Verdict {
  readonly decision: Decision;
  readonly action: Action;
  /** The name of the rule that decided; `default.allow` when none spoke. */
  readonly rule: string;
  /** One sentence. */
  readonly reason: string;
  readonly findings: readonly JudgedFinding[];
  readonly allowlisted_findings: readonly AllowlistedFinding[];
  readonly violations: readonly Violation[];
  /** Declared and found tags, each once, sorted. */
  readonly data_tags: readonly Tag[];
  /** The changed content; `null` when nothing was changed. */
  readonly content: Content | null;
  /** Fields that a contract removed, as dotted names: `body`, `customers.name`. */
  readonly stripped_fields: readonly string[];
  /** Takes them out of the text of the content. What is taken out was not scanned. */
  readonly removed: readonly Splice[];
  /** Whether a rule's `fallback_template` stands in place of the content. */
  readonly fallback_used: boolean;
  readonly coverage: Coverage;
  readonly monitored: readonly MonitoredRule[];
  /** Set where the action is `require_approval`; `null` there too when more rules ask than one request can name. */
  readonly approval: ApprovalRequirement | null;
  /** `null` where nothing in monitor mode would have acted. */
  readonly enforced_result: DecisionResult | null;
  /** `null` where the session stays as it is, and where no rule in force asks about sessions. */
  readonly taint_change: TaintChange | null;
  readonly policy_hash: string;
  /** A fault of ours became this verdict; it always blocks. */
  readonly fault: boolean;
}

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

/** Gives the fingerprint of what a detector matched; made by whoever holds the key. */
export type Fingerprinter = (rule_id: string, value: string) => string;

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
