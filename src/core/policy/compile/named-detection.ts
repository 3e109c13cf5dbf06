import { commandRules } from '../../detect/commands/rules/index.ts';
import type { DetectorIdentity } from '../../detect/matching/detector.ts';
import { listBuiltinIdentities } from '../../detect/registry/builtin-detectors.ts';
import { buildRuleIdentity, rankNameMatch } from '../../detect/registry/detector-settings.ts';
import { covers } from '../../tags.ts';
import type { CustomPattern, DetectorSetting, DocumentProblem } from '../../types/index.ts';
import {
  findExampleProblems,
  type ParsedPattern,
  type PatternSettings,
  parsePattern,
} from './custom-pattern.ts';
import type { DetectionSettings, NamedDetectionParser } from './detection.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation, suggestName } from './problems.ts';

/**
 * Parses the settings of single detectors and the custom patterns. This module loads all detectors, which takes
 * about a tenth of a second, so it is imported on demand.
 */
export const parseNamedDetection: NamedDetectionParser = (detection, place, problems) => {
  const patterns = readPatterns(detection.patterns, buildChildLocation(place, 'patterns'), problems);
  const detectors = readSettings(detection, patterns, buildChildLocation(place, 'detectors'), problems);
  return { patterns, detectors };
};

/**
 * Returns the problems with the patterns of a plug-in, except for ids that are taken. Their examples are tried.
 */
export function findPatternProblems(
  written: readonly PatternSettings[],
  place: DocumentLocation,
  taken: ReadonlySet<string>,
): readonly DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  readPatterns(written, place, problems, taken);
  return problems;
}

const BUILTIN: readonly DetectorIdentity[] = [
  ...listBuiltinIdentities(),
  ...commandRules.map(buildRuleIdentity),
];

function readPatterns(
  written: readonly PatternSettings[],
  place: DocumentLocation,
  problems: DocumentProblem[],
  moreTaken: Iterable<string> = [],
): readonly CustomPattern[] {
  const taken = new Set([...BUILTIN.map(({ id }) => id), ...moreTaken]);
  const patterns = written.flatMap((each, at): ParsedPattern[] => {
    const here = buildChildLocation(place, at);
    if (taken.has(each.id))
      problems.push(buildDocumentProblem(buildChildLocation(here, 'id'), 'is taken by another detector'));
    taken.add(each.id);
    const read = parsePattern(each, here, problems);
    return read === null ? [] : [{ written: each, read, place: here }];
  });
  problems.push(...findExampleProblems(patterns));
  return patterns.map(({ read }) => read);
}

function readSettings(
  { detectors: written, is_partial = false }: DetectionSettings['detection'],
  patterns: readonly CustomPattern[],
  place: DocumentLocation,
  problems: DocumentProblem[],
): readonly DetectorSetting[] {
  const all = [...BUILTIN, ...patterns];
  return Object.entries(written).map(([name, { enabled = null, severity = null, entropy_min = null }]) => {
    const here = buildChildLocation(place, name);
    const named = all.filter((each) => rankNameMatch(name, each) > 0);
    if (named.length === 0) {
      const hint = suggestName(name, [...new Set(all.flatMap(listNames))]);
      const what = `is no detector, no family and no tag of one${hint}`;
      problems.push(buildDocumentProblem(here, what, is_partial ? 'warning' : 'error'));
    } else if (entropy_min !== null && !named.every(isMeasured)) {
      const what = 'has no meaning here: it is for secrets and for patterns of your own';
      problems.push(buildDocumentProblem(buildChildLocation(here, 'entropy_min'), what));
    }
    return { name, enabled, severity, entropy_min };
  });
}

/** Returns whether the entropy of a detector's values is meaningful. */
function isMeasured(named: DetectorIdentity): boolean {
  return covers('secret', named.tags[0]) || 'units_max' in named;
}

/** Returns the id, the family and the tags of a detector, with the ancestors of the tags. */
function listNames({ id, detector, tags }: DetectorIdentity): string[] {
  const ancestors = tags.flatMap((tag) => {
    const parts = tag.split('.');
    return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
  });
  return [id, detector, ...ancestors];
}
