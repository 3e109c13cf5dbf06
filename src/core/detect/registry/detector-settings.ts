import { covers } from '../../tags.ts';
import type { Detection, DetectorSetting, Severity, Tag } from '../../types/index.ts';
import { COMMAND_FAMILY } from '../commands/ids.ts';
import type { CommandRule } from '../commands/rules/rule.ts';
import type { DetectorIdentity } from '../matching/detector.ts';
import { measureEntropy } from '../matching/entropy.ts';

/** Returns the names by which settings select a command rule. */
export function buildRuleIdentity({ id, tag }: CommandRule): DetectorIdentity {
  return { id, detector: COMMAND_FAMILY, tags: [tag] };
}

/** The settings that apply to one detector. */
export interface EffectiveDetectorSettings {
  readonly is_enabled: boolean;
  /** The severity that replaces the detector's own; `null` if none is set. */
  readonly severity: Severity | null;
  readonly entropy_min: number;
}

const resolved = new WeakMap<Detection, Map<string, EffectiveDetectorSettings>>();

/**
 * Returns the settings that apply to a detector. The result is cached per detector and settings, because both
 * are immutable.
 */
export function resolveDetectorSettings(
  detection: Detection,
  identity: DetectorIdentity,
): EffectiveDetectorSettings {
  if (detection.detectors.length === 0) return isSwitchedOn(detection, identity.tags[0]) ? ON : OFF;
  let byId = resolved.get(detection);
  if (byId === undefined) {
    byId = new Map();
    resolved.set(detection, byId);
  }
  let effective = byId.get(identity.id);
  if (effective === undefined) {
    effective = computeDetectorSettings(detection, identity);
    byId.set(identity.id, effective);
  }
  return effective;
}

/** Returns whether a value has at least the configured entropy. */
export function hasEntropy({ entropy_min }: EffectiveDetectorSettings, value: string): boolean {
  return entropy_min === 0 || measureEntropy(value) >= entropy_min;
}

/** Returns how specifically a name selects a detector: higher is more specific, 0 means not at all. */
export function rankNameMatch(name: string, { id, detector, tags }: DetectorIdentity): number {
  if (name === id) return Number.POSITIVE_INFINITY;
  if (name === detector) return Number.MAX_SAFE_INTEGER;
  return tags.some((tag) => covers(name, tag)) ? name.length : 0;
}

/** The settings of a detector for which nothing is configured. */
const ON: EffectiveDetectorSettings = { is_enabled: true, severity: null, entropy_min: 0 };
const OFF: EffectiveDetectorSettings = { is_enabled: false, severity: null, entropy_min: 0 };

function computeDetectorSettings(
  detection: Detection,
  identity: DetectorIdentity,
): EffectiveDetectorSettings {
  const settings = detection.detectors
    .map((setting) => ({ setting, exact: rankNameMatch(setting.name, identity) }))
    .filter(({ exact }) => exact > 0)
    .sort((a, b) => b.exact - a.exact)
    .map(({ setting }) => setting);
  const first = <Key extends keyof DetectorSetting>(key: Key) =>
    settings.find((setting) => setting[key] !== null)?.[key] ?? null;
  return {
    is_enabled: isSwitchedOn(detection, identity.tags[0]) && first('enabled') !== false,
    severity: first('severity'),
    entropy_min: first('entropy_min') ?? 0,
  };
}

/** Returns the switch of the family of the first tag; true for families without a switch. */
function isSwitchedOn(detection: Detection, tag: Tag): boolean {
  if (covers('secret', tag)) return detection.secret_detection;
  if (covers('personal', tag)) return detection.pii_protection;
  if (covers('injection', tag)) return detection.injection_detection;
  return covers('dangerous', tag) ? detection.command_detection : true;
}
