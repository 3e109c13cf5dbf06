import type { Tag } from '../../core/types/index.ts';
import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import type { Permission } from '../../runtime/config/permissions.ts';
import type { EventKind } from './event-kinds.ts';
import type { Mechanism } from './mechanisms.ts';

/** The places at which tagged data is decided on. */
export const PLACES = ['input', 'call', 'result', 'output'] as const;
export type Place = (typeof PLACES)[number];

/** A kind of data that a control is about, and where the policy must act on it. */
export interface DataRequirement {
  readonly tag: Tag;
  readonly places: readonly Place[];
  /** `act`: redact, block or ask for approval. `record`: flagging is enough. */
  readonly expect: 'act' | 'record';
}

/** One control of a framework: a clause, what carries it here, and what does not. */
export interface ControlMapping {
  /** The reference that people use: `164.312(b)`, `Art. 32(1)(b)`, `CC6.1`. */
  readonly control_id: string;
  /** Our words for the subject of the clause. */
  readonly title: string;
  /** One or two sentences in our words: the requirement of the clause. */
  readonly requirement: string;
  /**
   * The share of the clause that a service of this kind can carry: `full`, `part`, or `none` if it is for the
   * organization alone.
   */
  readonly coverage: 'full' | 'part' | 'none';
  /** One or two sentences: what the service does for it. Empty for `none`. */
  readonly contribution: string;
  readonly tags: readonly DataRequirement[];
  readonly mechanisms: readonly Mechanism[];
  /** Built-in rules by name, or by prefix with `*` at the end. Their events are evidence. */
  readonly rules: readonly string[];
  /** Kinds of events that are evidence. */
  readonly events: readonly EventKind[];
  /** The permissions that separate duties for it. */
  readonly permissions: readonly Permission[];
  /** Settings that an auditor should check, because they decide how much of it is active. */
  readonly settings: readonly string[];
  /** The parts of the clause that this service cannot give, one sentence each. */
  readonly gaps: readonly string[];
}

/** A source of clause numbers. */
export interface MappingSource {
  readonly title: string;
  readonly url: string;
}

/** A framework and its controls: the content of a file in `data/compliance`. */
export interface FrameworkMapping {
  readonly framework: FrameworkId;
  readonly title: string;
  readonly edition: string;
  /** The date of the last review of the file, `YYYY-MM-DD`. */
  readonly reviewed: string;
  readonly sources: readonly MappingSource[];
  /** Sentences: what the mapping covers, and what the framework asks that no such report can show. */
  readonly scope: readonly string[];
  readonly controls: readonly ControlMapping[];
}
