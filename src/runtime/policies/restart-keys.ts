import { isDeepStrictEqual } from 'node:util';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { formatPath, type PathStep } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';

/** The keys that a reload changes at once: the parts of a policy, and the paths of its files. */
const LIVE: ReadonlySet<string> = new Set([
  'version',
  'policy',
  'policies',
  'paths',
  'tenants',
  'secret_detection',
  'pii_protection',
  'injection_detection',
  'command_detection',
  'detection.detectors',
  'detection.patterns',
  'detection.allowlist',
  'plugins',
  'auth.api_keys',
  'redaction',
  'scan.text_bytes_max',
  'scan.depth_max',
  'scan.nodes_max',
  'scan.findings_max',
  'origin',
]);

/** Returns a warning for each changed key that takes effect at the next start only. */
export function findRestartKeys(running: Config, next: Config): DocumentProblem[] {
  return findChangedKeys(running, next, []).map((steps) =>
    buildConfigProblem(
      next.origin.label,
      steps,
      'has changed; it takes effect at the next start',
      undefined,
      'warning',
    ),
  );
}

function findChangedKeys(
  before: unknown,
  after: unknown,
  steps: readonly PathStep[],
): (readonly PathStep[])[] {
  if (LIVE.has(formatPath(steps)) || isDeepStrictEqual(before, after)) return [];
  if (!isSection(before) || !isSection(after)) return [steps];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => findChangedKeys(before[key], after[key], [...steps, key]));
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
