import type { Severity, Tag } from '../types.ts';

/**
 * A detector: one record that says what is looked for, how, and how we know that it works. Built-in ones
 * and those of plug-ins have the same shape; the folder's `index` is the list.
 */
export interface Detector {
  /** The exact name, unique: `openai.api_key`. The wire's `rule_id`. */
  readonly id: string;
  /** The family that the wire calls `detector`: `api_key`. */
  readonly detector: string;
  readonly tags: readonly [Tag, ...Tag[]];
  readonly severity: Severity;
  /** One sentence, with the source of the fact where the shape is a vendor's. */
  readonly description: string;
  /**
   * Short byte-class sequences, one of which stands at the start of every match; all detectors' anchors
   * are one automaton that walks the text once (see anchors.ts for the notation).
   */
  readonly anchors: readonly string[];
  /** Bounded, tried at an anchor only. A group named `value` narrows the finding to that group. */
  readonly pattern: RegExp;
  /** A last look at what matched: checksum, range, entropy. Pure and linear. */
  readonly validate?: (value: string) => boolean;
  /** The proof: texts in which it must find the part between `«` and `»`, and texts in which it must not. */
  readonly examples: { readonly hits: readonly string[]; readonly misses: readonly string[] };
}
