import type { Severity, Tag } from '../../types/index.ts';
import { commandRules } from '../commands/rules/index.ts';
import { allDetectors } from '../detectors/all.ts';

/** One detector as the documentation shows it: its subject, its evidence and its examples. */
export interface DetectorCatalogueEntry {
  /** For example `github.token`: the `rule_id` of a violation, and the name in `detection.detectors`. */
  readonly id: string;
  /** The family, which is the `detector` of a violation. */
  readonly family: string;
  readonly tags: readonly Tag[];
  readonly severity: Severity;
  /**
   * The evidence: `cue` is a word next to the value, `shape` the form of the value, `proof` a checksum or a
   * vendor's prefix, and `command` a command that would run.
   */
  readonly evidence: 'cue' | 'shape' | 'proof' | 'command';
  readonly description: string;
  /** Texts in which the detector finds the part between `«` and `»`; for a command rule, whole commands. */
  readonly hits: readonly string[];
  /** Texts in which the detector finds nothing. */
  readonly misses: readonly string[];
}

/** Returns all built-in detectors and command rules, sorted by id. Loads every detector. */
export function buildDetectorCatalogue(): readonly DetectorCatalogueEntry[] {
  const inText = allDetectors.map(({ id, detector, tags, severity, strength, description, examples }) => ({
    id,
    family: detector,
    tags,
    severity,
    evidence: strength,
    description,
    ...examples,
  }));
  const inCommands = commandRules.map(({ id, tag, severity, description, hits, misses }) => ({
    id,
    family: tag.slice(tag.lastIndexOf('.') + 1),
    tags: [tag],
    severity,
    evidence: 'command' as const,
    description,
    hits,
    misses,
  }));
  return [...inText, ...inCommands].sort((a, b) => (a.id < b.id ? -1 : 1));
}
