import type { Action, Severity, Tag, ViolationType } from './enums.ts';

/** A match of a detector. It holds offsets and never the matched text. */
export interface Finding {
  /** Id of the detector: `openai.api_key`. */
  readonly rule_id: string;
  /** Family of the detector: `api_key`. The wire format calls it `detector`. */
  readonly detector: string;
  readonly type: ViolationType;
  readonly severity: Severity;
  /** Never empty. The first tag is the main one. */
  readonly tags: readonly [Tag, ...Tag[]];
  /** UTF-16 offsets into the leaf's text, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Number of the leaf in the order of `walkJson`; 0 for text. */
  readonly leaf: number;
  /** JSON path of the leaf, `$.user.email` or `$.items[0]`; `null` for text. */
  readonly path: string | null;
  /** Set for a documented example secret, on which no rule acts more strictly than `flag`. */
  readonly example?: true;
  /** Set for a finding of a classifier that the operator configured; absent for a finding of a detector. */
  readonly source?: 'classifier';
  /** Set if a classifier's finding is about the whole content. It then has no place that could be masked. */
  readonly is_whole?: true;
  /** Id of the allowlist entry that allows its detector here. Only the tenant's rules and flow rules act on it. */
  readonly allowed_by?: string;
}

/** The answers of the configured classifiers on a content. They make a decision stricter, never milder. */
export interface Classification {
  readonly findings: readonly Finding[];
  /** `partial` if a classifier gave no valid answer and its `on_failure` is `block`. */
  readonly coverage: Coverage;
  /** Names of the classifiers that gave no valid answer. */
  readonly failed: readonly string[];
}

/** A finding with the decision of the policy. */
export interface JudgedFinding extends Finding {
  /** Severity from the detector. A rule can replace it in `severity`. */
  readonly detected_severity: Severity;
  readonly action: Action;
  /** Name of the rule that decided on the finding. */
  readonly rule: string;
}

/** Allowlisted finding: by its fingerprint, or by its detector (`allowed_by`). No rule acts on it. */
export interface AllowlistedFinding extends Finding {
  readonly fingerprint?: string;
}

/** A violation that has no position in the text: of a contract, an identity or a limit. */
export interface Violation {
  readonly type: ViolationType;
  /** Name of the violated term: `arguments`, `accepts.tags`, `tools`, `scan.text_bytes_max`. */
  readonly rule: string;
  readonly severity: Severity;
  /** JSON path into the arguments or the result; `null` if there is none. */
  readonly path: string | null;
  /** One sentence for an operator, without any matched text. */
  readonly reason: string;
}

/** Returns the keyed fingerprint of a matched value. The caller provides it, because `core` never holds the key. */
export type Fingerprinter = (ruleId: string, value: string) => string;

/**
 * Part of the content that was scanned. `reason` names the exceeded limit, and `bytes` is the number of scanned
 * bytes.
 */
export type Coverage =
  | { readonly status: 'full' }
  | { readonly status: 'partial'; readonly reason: string; readonly bytes: number };
