import type { Severity, Tag } from '../../types/index.ts';
import type { Digits } from './pattern-digits.ts';

/**
 * Evidence of a detector. If findings cover each other, the stronger one stays:
 * `cue`: a word next to the value (`password = ...`); `shape`: a form that the value alone has;
 * `proof`: a vendor's prefix, a checksum, or a structure that can be parsed.
 */
export const STRENGTHS = ['cue', 'shape', 'proof'] as const;
export type Strength = (typeof STRENGTHS)[number];

/** A pattern with linear time, also if it is configured. */
export interface LinearPattern {
  readonly source: string;
  /** UTF-16 units that a match may have before its anchor, and from there on. */
  readonly before_units_max: number;
  readonly units_max: number;
  /**
   * Looks for a match that has the unit at `anchor` in it and begins at `least` or later. Gives the place of the
   * value, and adds what that took to the meter.
   */
  readonly find: (
    text: string,
    anchor: number,
    least: number,
    meter: { work: number; readonly allowed: number },
  ) => readonly [start: number, end: number] | null;
}

/** Names of a detector, or of a rule about commands, in settings. */
export type Named = Pick<Detector, 'id' | 'detector' | 'tags'>;

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
  readonly strength: Strength;
  /** One sentence, with the source of the fact where the shape is a vendor's. */
  readonly description: string;
  /**
   * Short byte-class sequences, one of which starts every match; all detectors' anchors
   * are one automaton that walks the text once (see anchors.ts for the notation).
   */
  readonly anchors: readonly string[];
  /**
   * For an anchor in the middle of a match (the `@` of an address): the match begins as far before the
   * anchor as units of `over` reach (a class in the anchors' notation), at most `units_max` of them.
   */
  readonly back?: { readonly over: string; readonly units_max: number };
  /**
   * Tried at an anchor only, there and nowhere else. Every repeat is bounded, and a failed try must be short.
   * A group named `value` narrows the finding to that group. A pattern that a user wrote is on an engine of its own.
   */
  readonly pattern: RegExp | LinearPattern;
  /**
   * Maximum cost of an attempt, in units of clean text, if it is more than its length: a pattern that
   * searches several things at every place. The tests count it.
   */
  readonly try_work?: number;
  /**
   * What digits a match has that begins at the anchor, of a pattern without a group `value`, behind whose match there is
   * no digit. One look at the shape of a text (how long its rows of digits are, and what is between them) tells most
   * numbers of a table from such a match.
   */
  readonly digits?: Digits;
  /** A final check of the match (of the group `value` if there is one). Pure and linear. */
  readonly validate?: (value: string) => boolean;
  /**
   * What `validate` says of a value of digits with spaces, dots, dashes and slashes or none, by the digits alone. Where a
   * shape leaves one such match, this is asked before the pattern is tried: of any digits.
   */
  readonly validateDigits?: (digits: string) => boolean;
  /** Cost of `validate` per unit of a value, in units of clean text; there is a default. */
  readonly validate_work?: number;
  /**
   * In JSON the word next to a value is its key. If an anchor is in a key and `key` matches it, the whole
   * value of that member (a string or a number) is checked with `validate` and found.
   */
  readonly member?: { readonly key: RegExp; readonly validate: (value: string) => boolean };
  /** Keys of JSON members whose values look like a match and are something else, as a `version` does like an address. */
  readonly not_under?: RegExp;
  /**
   * With it, a match is a phrase and not a finding by itself: phrases that are close together are added
   * up (see weigh.ts), the heaviest of each `detector`, and are findings from a sum on.
   */
  readonly weight?: number;
  /** The proof: texts in which it must find the part between `«` and `»`, and texts in which it must not. */
  readonly examples: { readonly hits: readonly string[]; readonly misses: readonly string[] };
}
