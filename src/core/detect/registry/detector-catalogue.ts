import type { Severity, Tag } from '../../types/index.ts';
import { commandRules } from '../commands/rules/index.ts';
import { allDetectors } from '../detectors/all.ts';

/** One detector as users know it: what it finds, how sure it is, and examples. */
export interface CatalogueEntry {
  /** `github.token`: the `rule_id` of a violation, and the name in `detection.detectors`. */
  readonly id: string;
  /** The family, the `detector` of a violation. */
  readonly family: string;
  readonly tags: readonly Tag[];
  readonly severity: Severity;
  /** How it knows: a word beside the value, the form of the value, a checksum or prefix, or the command that would run. */
  readonly evidence: 'cue' | 'shape' | 'proof' | 'command';
  readonly description: string;
  /** Texts in which it finds the part between `«` and `»`; of commands, the whole. */
  readonly hits: readonly string[];
  /** Texts in which it finds nothing. */
  readonly misses: readonly string[];
}

/** All built-in detectors, sorted by their ids. It loads every detector. */
export function buildDetectorCatalogue(): readonly CatalogueEntry[] {
  const in_text = allDetectors.map(({ id, detector, tags, severity, strength, description, examples }) => ({
    id,
    family: detector,
    tags,
    severity,
    evidence: strength,
    description,
    ...examples,
  }));
  const in_commands = commandRules.map(({ id, tag, severity, description, hits, misses }) => ({
    id,
    family: tag.slice(tag.lastIndexOf('.') + 1),
    tags: [tag],
    severity,
    evidence: 'command' as const,
    description,
    hits,
    misses,
  }));
  return [...in_text, ...in_commands].sort((a, b) => (a.id < b.id ? -1 : 1));
}
