import type { Action, Severity, Tag, ViolationType } from './enums.ts';

/** A match of a detector. It holds offsets and never the text. */
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
  /** Number of the leaf in a JSON value, in the order of `walkJson`; 0 for text. */
  readonly leaf: number;
  /** The leaf's path, `$.user.email`, `$.items[0]`; `null` for text. */
  readonly path: string | null;
  /** Set for a documented example secret, on which no rule acts more strictly than `flag`. */
  readonly example?: true;
}

/** A finding with the decision of the policy. */
export interface JudgedFinding extends Finding {
  /** Severity from the detector. A rule can replace it in `severity`. */
  readonly detected_severity: Severity;
  readonly action: Action;
  /** Name of the rule that decided on the finding. */
  readonly rule: string;
}

/** A finding whose fingerprint is allowlisted. No rule is evaluated for it. */
export interface AllowlistedFinding extends Finding {
  readonly fingerprint: string;
}

/** A violation without a position in the text: of a contract, an identity or a limit. */
export interface Violation {
  readonly type: ViolationType;
  /** Name of the violated term: `arguments`, `accepts.tags`, `tools`, `scan.text_bytes_max`. */
  readonly rule: string;
  readonly severity: Severity;
  /** JSON path into the arguments or the result; `null` if there is none. */
  readonly path: string | null;
  /** One sentence for a person, without any matched text. */
  readonly reason: string;
}

/** Returns the keyed fingerprint of a matched value. The owner of the key provides it. */
export type Fingerprinter = (rule_id: string, value: string) => string;

/** How much of the content was scanned. `reason` names the limit if it was not all. */
export type Coverage =
  | { readonly status: 'full' }
  | { readonly status: 'partial'; readonly reason: string; readonly bytes: number };
