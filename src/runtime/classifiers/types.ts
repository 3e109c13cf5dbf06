import type { Static } from 'typebox';
import type { Classification, Crossing, JudgedFinding } from '../../core/types/index.ts';
import type { classifiersSchema } from '../config/schema-classifiers.ts';

/** The `classifiers` section of the configuration. */
export type ClassifierSettings = Static<typeof classifiersSchema>[number];

/** The classifiers that an operator configured. */
export interface Classifiers {
  /** Returns whether any classifier gets the content of such a crossing. */
  readonly appliesTo: (crossing: Pick<Crossing, 'boundary' | 'phase'>) => boolean;
  /**
   * Sends the content to every classifier that applies, and resolves when the last one has answered or has used up its
   * deadline. A classifier that fails is part of the result. Rejects only on an internal fault, and the caller blocks
   * then.
   *
   * @param found - the findings of the detectors, because a key that holds one may not appear in a path
   */
  readonly classify: (crossing: Crossing, found: readonly JudgedFinding[]) => Promise<Classification>;
}

/**
 * The reason why a classifier added nothing. `text_too_long`: the text is longer than its `text_bytes_max`. `busy`: too
 * many calls to it are running. `no_key`: the variable of its key is not set.
 */
export type ClassifierFailure =
  | 'busy'
  | 'invalid_answer'
  | 'no_key'
  | 'refused'
  | 'text_too_long'
  | 'timeout'
  | 'unreachable';

/** A finding as a classifier answers it. The offsets are Unicode code points of the text, `end` exclusive. */
export interface ClassifierFinding {
  readonly label: string;
  /** From 0 to 1. */
  readonly score: number;
  /** `null` if the finding is about the whole text. */
  readonly place: { readonly start: number; readonly end: number } | null;
}

/** The outcome of one call. */
export type ClassifierAnswer =
  | { readonly findings: readonly ClassifierFinding[]; readonly failure: null }
  | { readonly findings: null; readonly failure: ClassifierFailure };

/** Counts calls for Prometheus. It never throws and gets no text. */
export type CountClassifierCall = (
  classifier: string,
  outcome: 'answered' | ClassifierFailure,
  seconds: number,
) => void;
