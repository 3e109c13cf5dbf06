import { commandsInText } from '../commands/in-text.ts';
import { commandRules } from '../commands/rules/index.ts';
import { exactness, type Named, namedRule } from '../detection/standing.ts';
import { detectors } from '../detectors/index.ts';
import { covers } from '../tags.ts';
import type {
  AllowedFingerprint,
  CustomPattern,
  Detection,
  DetectorSetting,
  Problem,
  Severity,
} from '../types.ts';
import { exampleProblems, type ReadPattern, readPattern, type WrittenPattern } from './custom-pattern.ts';
import { below, type Place, problem, suggestion } from './problems.ts';

/** What of the configuration says how detection works; shapes were checked when it was read. */
export interface DetectionSettings {
  readonly secret_detection: { readonly enabled: boolean; readonly example_keys: boolean };
  readonly pii_protection: { readonly enabled: boolean };
  readonly injection_detection: {
    readonly enabled: boolean;
    readonly flag_from: number;
    readonly block_from: number;
  };
  readonly command_detection: { readonly enabled: boolean };
  /** The section `detection`. */
  readonly detection: {
    readonly detectors: Readonly<Record<string, WrittenSetting>>;
    readonly patterns: readonly WrittenPattern[];
    readonly allowed: readonly AllowedFingerprint[];
  };
}

interface WrittenSetting {
  readonly enabled?: boolean;
  readonly severity?: Severity;
  readonly entropy_min?: number;
}

/** Makes what detection needs of its settings; a problem is added for each that cannot be used. */
export function readDetection(settings: DetectionSettings, file: string, problems: Problem[]): Detection {
  const { secret_detection, pii_protection, injection_detection, command_detection, detection } = settings;
  const place = { file, path: 'detection' };
  const patterns = readPatterns(detection.patterns, below(place, 'patterns'), problems);
  const { enabled, flag_from, block_from } = injection_detection;
  if (flag_from > block_from) {
    const at = below({ file, path: 'injection_detection' }, 'flag_from');
    problems.push(problem(at, 'must not be above `injection_detection.block_from`'));
  }
  return {
    secret_detection: secret_detection.enabled,
    pii_protection: pii_protection.enabled,
    injection_detection: enabled,
    command_detection: command_detection.enabled,
    example_keys: secret_detection.example_keys,
    injection_sums: { flag_from, block_from },
    detectors: readSettings(detection.detectors, patterns, below(place, 'detectors'), problems),
    patterns,
    allowed: readAllowed(detection.allowed, below(place, 'allowed'), problems),
  };
}

const BUILTIN: readonly Named[] = [...detectors, ...commandsInText, ...commandRules.map(namedRule)];

function readPatterns(
  written: readonly WrittenPattern[],
  place: Place,
  problems: Problem[],
): readonly CustomPattern[] {
  const taken = new Set(BUILTIN.map(({ id }) => id));
  const patterns = written.flatMap((each, at): ReadPattern[] => {
    const here = below(place, at);
    if (taken.has(each.id)) problems.push(problem(below(here, 'id'), 'is taken by another detector'));
    taken.add(each.id);
    const read = readPattern(each, here, problems);
    return read === null ? [] : [{ written: each, read, place: here }];
  });
  problems.push(...exampleProblems(patterns));
  return patterns.map(({ read }) => read);
}

function readSettings(
  written: Readonly<Record<string, WrittenSetting>>,
  patterns: readonly CustomPattern[],
  place: Place,
  problems: Problem[],
): readonly DetectorSetting[] {
  const all = [...BUILTIN, ...patterns];
  return Object.entries(written).map(([name, { enabled = null, severity = null, entropy_min = null }]) => {
    const here = below(place, name);
    const named = all.filter((each) => exactness(name, each) > 0);
    if (named.length === 0) {
      const hint = suggestion(name, [...new Set(all.flatMap(namesOf))]);
      problems.push(problem(here, `is no detector, no family and no tag of one${hint}`));
    } else if (entropy_min !== null && !named.every(isMeasured)) {
      const what = 'has no meaning here: it is for secrets and for patterns of your own';
      problems.push(problem(below(here, 'entropy_min'), what));
    }
    return { name, enabled, severity, entropy_min };
  });
}

/** Whether the values of a detector are such that their entropy says something. */
function isMeasured(named: Named): boolean {
  return 'pattern' in named && (covers('secret', named.tags[0]) || 'units_max' in named);
}

/** Its id, its family, its tags and what they descend from. */
function namesOf({ id, detector, tags }: Named): string[] {
  const ancestors = tags.flatMap((tag) => {
    const parts = tag.split('.');
    return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
  });
  return [id, detector, ...ancestors];
}

function readAllowed(
  written: readonly AllowedFingerprint[],
  place: Place,
  problems: Problem[],
): readonly AllowedFingerprint[] {
  const seen = new Set<string>();
  written.forEach(({ fingerprint }, at) => {
    if (seen.has(fingerprint))
      problems.push(problem(below(place, at, 'fingerprint'), 'stands in the list twice'));
    seen.add(fingerprint);
  });
  return written;
}
