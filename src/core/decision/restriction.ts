import type { Action, Finding, Tag, Violation } from '../types/index.ts';

/** The tags of a crossing without its facts, and the findings in which those that were found stand. */
export interface TaggedData {
  readonly tags: readonly Tag[];
  readonly findings: readonly Finding[];
}

/** What a contract or an identity has against a crossing. */
export interface Restriction {
  /** `null` where nothing is broken, and a person is to be asked all the same. */
  readonly violation: Violation | null;
  /** The rule's name in the verdict: `contract.arguments`, `identity.tools`. */
  readonly rule: string;
  readonly action: Action;
  /** One sentence. */
  readonly reason: string;
  readonly enforcement: 'enforce' | 'monitor';
}
