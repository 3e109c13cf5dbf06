import type { Severity, Tag } from '../../types/index.ts';
import type { DigitProfile } from './digit-profile.ts';

/**
 * The evidence of a detector. Of findings that cover each other the stronger one is kept. `cue`: a word next to the
 * value (`password = ...`); `shape`: the form of the value; `proof`: a vendor's prefix, a checksum, or a structure
 * that can be parsed.
 */
export const STRENGTHS = ['cue', 'shape', 'proof'] as const;
export type Strength = (typeof STRENGTHS)[number];

/** A pattern that runs in linear time, even if a user wrote it. */
export interface LinearPattern {
  readonly source: string;
  /** The most UTF-16 units of a match before its anchor, and from its anchor on. */
  readonly before_units_max: number;
  readonly units_max: number;
  /**
   * Finds a match that contains the unit at `anchor` and begins at `least` or later. Returns the span of the value,
   * and adds the work to the meter.
   */
  readonly find: (
    text: string,
    anchor: number,
    least: number,
    meter: { work: number; readonly allowed: number },
  ) => readonly [start: number, end: number] | null;
}

/** The names by which settings select a detector or a command rule. */
export type DetectorIdentity = Pick<Detector, 'id' | 'detector' | 'tags'>;

/**
 * A detector: one record with the pattern, its evidence and its examples. Built-in detectors and those of plug-ins
 * have the same shape; `detectors/index.ts` is the list of built-in ones.
 */
export interface Detector {
  /** The unique name, `openai.api_key`. The public API calls it `rule_id`. */
  readonly id: string;
  /** The family, `api_key`. The public API calls it `detector`. */
  readonly detector: string;
  readonly tags: readonly [Tag, ...Tag[]];
  readonly severity: Severity;
  readonly strength: Strength;
  /** One sentence, with the source of the fact if the shape is a vendor's. */
  readonly description: string;
  /**
   * Short sequences of unit classes, one of which is at the start of every match. The anchors of all detectors are
   * one automaton that walks the text once (notation: anchors.ts).
   */
  readonly anchors: readonly string[];
  /**
   * For an anchor in the middle of a match, such as the `@` of an address: the match begins before the anchor, at the
   * first of at most `units_max` units of the class `over` (anchor notation).
   */
  readonly back?: { readonly over: string; readonly units_max: number };
  /**
   * Tried only at an anchor. Every repeat is bounded, and a failed try must be short. A group named `value` narrows
   * the finding to that group. A user's pattern runs on a linear-time engine.
   */
  readonly pattern: RegExp | LinearPattern;
  /**
   * Returns whether an anchor is between two offsets, for a detector whose anchors admit more than they mean. Reads the
   * units of an anchor only.
   */
  readonly anchorCheck?: (text: string, start: number, end: number) => boolean;
  /**
   * A cheap test of the text from the start of a match, tried before a pattern that is costly or whose anchors are in
   * ordinary text. Reads at most some 100 units. False only if the pattern cannot match there.
   */
  readonly precheck?: (text: string, start: number) => boolean;
  /**
   * The most that a try costs, in units of clean text, if it is more than the pattern's length implies: for patterns
   * with several searches at every offset. Tests count it.
   */
  readonly try_work?: number;
  /**
   * The digits of a match that begins at the anchor, for a pattern without a group `value` whose match is not
   * followed by a digit. The scanner compares it with the shape of the text (lengths of digit runs and their
   * separators), which excludes most numbers of a table without a try.
   */
  readonly digit_profile?: DigitProfile;
  /** Checks the match (the group `value` if there is one). Pure and linear. */
  readonly validate?: (value: string) => boolean;
  /**
   * Returns what `validate` returns for a value of digits and separators (space, dot, dash, slash), from the digits
   * alone. If the shape allows one match only, this runs before the pattern is tried, on any digits.
   */
  readonly validateDigits?: (digits: string) => boolean;
  /** The cost of `validate` per unit of a value, in units of clean text; a default if absent. */
  readonly validate_work?: number;
  /**
   * For JSON members, where the key is the word next to the value. If an anchor is in a key and `key` matches it, the
   * whole value of that member (a string or a number) is checked with `validate` and reported.
   */
  readonly member?: { readonly key: RegExp; readonly validate: (value: string) => boolean };
  /**
   * Keys of JSON members whose values look like a match but are something else: a `version` looks like an IP address.
   */
  readonly excluded_keys?: RegExp;
  /**
   * If present, a match is a phrase and not a finding by itself. Phrases near each other are added up, the heaviest
   * of each `detector`, and become findings above a threshold (score-phrases.ts).
   */
  readonly weight?: number;
  /** True for a phrase of words alone, which is searched in the words of a text without its layout (views/layout.ts). */
  readonly is_words?: boolean;
  /** True for a phrase of words whose anchors are rare, so that the words around one are read. */
  readonly is_telling?: boolean;
  /**
   * Returns the severity of a found value by its evidence, if it can be lower than `severity`: a password that is a
   * word, or an address with the default password of a local service. Pure and linear.
   */
  readonly grade?: (value: string) => Severity;
  /**
   * Tests: texts in which the detector must find the part between `«` and `»`, and texts in which it must find
   * nothing.
   */
  readonly examples: { readonly hits: readonly string[]; readonly misses: readonly string[] };
}
