import type { Detection, Policy } from '../../core/types/index.ts';
import { compareStrictness } from './strictness.ts';

/** Lists the places at which a policy is less strict than another one, one sentence each; empty if it nowhere is. */
export function listWeakenings(
  before: Policy,
  after: Policy,
  strictness = compareStrictness(before, after),
): readonly string[] {
  return [
    ...strictness.examples.map(({ where, before, after }) => `${where}: ${before} -> ${after}`),
    ...strictness.loosening,
    ...listDisabledDetection(before.detection, after.detection),
    ...(strictness.complete ? [] : ['there are too many rules to compare every place, so there may be more']),
  ];
}

const GROUPS = ['secret_detection', 'pii_protection', 'injection_detection', 'command_detection'] as const;

function listDisabledDetection(before: Detection, after: Detection): readonly string[] {
  const removed = (before.command_wrappers ?? []).filter(
    (name) => after.command_wrappers?.includes(name) !== true,
  );
  return [
    ...GROUPS.filter((group) => before[group] && !after[group]).map(
      (group) => `\`${group}\` is switched off: nothing of that kind is found any more`,
    ),
    ...removed.map(
      (name) => `\`command_detection.wrappers\` no longer names \`${name}\`: commands behind it may pass`,
    ),
  ];
}
