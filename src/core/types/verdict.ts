import type { Content } from './crossing.ts';
import type { Action, Decision, Severity, Tag } from './enums.ts';
import type { AllowlistedFinding, Coverage, JudgedFinding, Violation } from './finding.ts';
import type { SeenLabel, ValuesChange } from './flow.ts';
import type { Splice } from './json.ts';
import type { TaintChange } from './policy.ts';

/** A rule in monitor mode that would have acted. */
export interface MonitoredRule {
  readonly rule: string;
  readonly action: Action;
  /** `null` if the rule is about the crossing and not about a tag. */
  readonly tag: Tag | null;
}

/** Approval that would let the crossing continue: the names of all rules that require it, each once. */
export interface ApprovalRequirement {
  readonly rules: readonly string[];
  /** Shortest lifetime that one of the rules sets. */
  readonly ttl_ms: number;
  /** Largest number of approvals that one of the rules requires. */
  readonly min_approvals: number;
  /** One of the rules requires that approvers have just proved a second factor. */
  readonly require_second_factor?: true;
}

/** Decision of a policy on one crossing. */
export interface DecisionResult {
  readonly decision: Decision;
  readonly action: Action;
  readonly rule: string;
}

/**
 * The result of a rule's condition that reads arguments or totals. It names arguments and holds none of their values.
 */
export interface RuleConditionResult {
  readonly rule: string;
  /** `null` if the condition had no result. */
  readonly result: boolean | null;
  readonly arguments: readonly string[];
}

/** The result of `judge`. It holds changed text only in `content`, and no matched text elsewhere. */
export interface Verdict {
  readonly decision: Decision;
  readonly action: Action;
  /** Name of the rule that decided; `default.allow` if no rule matched. */
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
  /** Splices that remove the stripped fields from the text of the content. The removed text was not scanned. */
  readonly removed: readonly Splice[];
  /** `true` if the `fallback_template` of a rule replaces the content. */
  readonly fallback_used: boolean;
  /** The severity that the rule that decided sets itself; absent if it sets none, or allows. */
  readonly rule_severity?: Severity;
  readonly coverage: Coverage;
  readonly monitored: readonly MonitoredRule[];
  /**
   * Set if the action is `require_approval`. Also `null` if more rules require approval than one request can name.
   */
  readonly approval: ApprovalRequirement | null;
  /** `null` if no rule in monitor mode would have acted. */
  readonly enforced_result: DecisionResult | null;
  /** `null` if the session's taint tags do not change, or if no active rule reads them. */
  readonly taint_change: TaintChange | null;
  /** `null` if the values that the session has seen do not change. */
  readonly values_change: ValuesChange | null;
  /** The labels for the arguments whose origin the contract checks, by name; absent if it checks none. */
  readonly argument_labels?: Readonly<Record<string, readonly SeenLabel[]>>;
  /** The conditions on arguments that were evaluated; absent if there are none. */
  readonly condition_results?: readonly RuleConditionResult[];
  readonly policy_hash: string;
  /** Set if an internal fault led to this verdict, which always blocks. */
  readonly fault: boolean;
}
