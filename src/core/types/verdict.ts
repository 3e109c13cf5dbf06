import type { Content } from './crossing.ts';
import type { Action, Decision, Tag } from './enums.ts';
import type { AllowlistedFinding, Coverage, JudgedFinding, Violation } from './finding.ts';
import type { Splice } from './json.ts';
import type { TaintChange } from './policy.ts';

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
