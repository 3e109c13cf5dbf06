import type { AllowedDetector, Detection, Policy } from '../../core/types/index.ts';
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
    ...listAllowedDetectors(before.detection, after.detection),
    ...(strictness.complete ? [] : ['there are too many rules to compare every place, so there may be more']),
  ];
}

function listAllowedDetectors(before: Detection, after: Detection): readonly string[] {
  const known = new Set(before.allowed_detectors?.map(({ id }) => id));
  return (after.allowed_detectors ?? []).filter(({ id }) => !known.has(id)).map(describeAllowedDetector);
}

/** Describes an allowlisted detector's effect and scope, in a sentence. */
export function describeAllowedDetector({
  rule_id,
  tool,
  agent_id,
  tenant_id,
  expires_ms,
}: Pick<AllowedDetector, 'rule_id' | 'tool' | 'agent_id' | 'tenant_id' | 'expires_ms'>): string {
  const name = (kind: string, value: string | null) =>
    value === null ? `any ${kind}` : `the ${kind} \`${value}\``;
  const scope = [name('tool', tool), name('agent', agent_id), name('tenant', tenant_id)].join(', ');
  return `findings of \`${rule_id}\` are allowed for ${scope}, until ${new Date(expires_ms).toISOString()}`;
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
