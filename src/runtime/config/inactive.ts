import type { DocumentProblem } from '../../core/types/index.ts';
import type { PathStep } from './problem-path.ts';
import { buildConfigProblem } from './problem-text.ts';
import type { Config } from './schema.ts';

/**
 * Returns a warning for each configured key that has no effect in this version, so that operators do not rely on a
 * protection that is missing.
 */
export function findInactiveKeys(
  config: Config,
  lineOf: (steps: readonly PathStep[]) => number | undefined,
): DocumentProblem[] {
  const idle: readonly (readonly [boolean, string, string])[] = [
    [config.intelligence.enabled, 'intelligence.enabled', 'no advisor runs'],
  ];
  return idle
    .filter(([configured]) => configured)
    .map(([, path, effect]) => {
      const steps = path.split('.');
      const predicate = `is not active in this version: ${effect}`;
      return buildConfigProblem(config.origin.label, steps, predicate, lineOf(steps), 'warning');
    });
}
