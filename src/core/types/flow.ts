import type { Tag } from './enums.ts';

/**
 * The origin of a value: `user`, `operator`, `own`, `trusted.<name>`, `untrusted.<name>`, or `unknown`. Like a tag, it
 * covers its descendants.
 */
export type Label = Tag;

/**
 * The form in which a value is compared. `exact`: its characters, for labels that permit. `number`: a number in one
 * decimal notation, for labels that permit. `folded`: without case, spacing and encoding, for untrusted labels alone.
 * `shingle`: a run of words.
 */
export type ValueForm = 'exact' | 'number' | 'folded' | 'shingle';

/** A value's label, and the event of the crossing in which the session saw it first. */
export interface SeenLabel {
  readonly label: Label;
  readonly event_id: string | null;
}

/** Entry kinds with a quota for each session. */
export type ValueQuota = 'user' | 'trusted' | 'untrusted' | 'shingle';

/** The values that a session has seen, as keyed hashes: read before `judge`, which changes nothing in it. */
export interface ValuesSeen {
  /** Hashes a value with the session's key: 64 bits as 16 hex digits. */
  readonly hashValue: (form: ValueForm, text: string) => string;
  /** Returns all labels for a hash, each once; empty if the session has not seen it. */
  readonly findLabels: (hash: string) => readonly SeenLabel[];
  /** Kinds whose quota is used up: later values of these kinds were not kept. */
  readonly full: readonly ValueQuota[];
  /** Trusted labels that permit nothing more in this session, because strangers' values were written there. */
  readonly ended: readonly Label[];
}

/** A crossing's additions to the values that its session has seen, if it is not blocked. */
export interface ValuesChange {
  readonly add: readonly { readonly hash: string; readonly form: ValueForm; readonly label: Label }[];
  readonly end: readonly Label[];
}
