import type { Action, Severity, Tag, ViolationType } from './enums.ts';

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

/** Gives the fingerprint of what a detector matched; made by whoever holds the key. */
export type Fingerprinter = (rule_id: string, value: string) => string;

/** How much of the content was looked at. `reason` names the limit where it was not all. */
export type Coverage =
  | { readonly status: 'full' }
  | { readonly status: 'partial'; readonly reason: string; readonly bytes: number };
