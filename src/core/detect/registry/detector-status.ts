import { covers } from '../../tags.ts';
import type { Detection, DetectorSetting, Severity, Tag } from '../../types/index.ts';
import { COMMAND_FAMILY } from '../commands/ids.ts';
import type { CommandRule } from '../commands/rules/rule.ts';
import type { Named } from '../matching/detector.ts';
import { entropy } from '../matching/entropy.ts';

/** A rule about commands, as settings name it. */
export function namedRule({ id, tag }: CommandRule): Named {
  return { id, detector: COMMAND_FAMILY, tags: [tag] };
}

/** What the settings come to for one detector. */
export interface Standing {
  readonly is_enabled: boolean;
  /** Instead of the detector's own. */
  readonly severity: Severity | null;
  readonly entropy_min: number;
}

const known = new WeakMap<Detection, Map<string, Standing>>();

/** What holds for a detector: asked once per detector and settings, which are never edited. */
export function standingOf(detection: Detection, named: Named): Standing {
  if (detection.detectors.length === 0) return isSwitchedOn(detection, named.tags[0]) ? ON : OFF;
  let standings = known.get(detection);
  if (standings === undefined) {
    standings = new Map();
    known.set(detection, standings);
  }
  let standing = standings.get(named.id);
  if (standing === undefined) {
    standing = settledFor(detection, named);
    standings.set(named.id, standing);
  }
  return standing;
}

/** Returns whether a value varies as much as is asked of it. */
export function hasEntropy({ entropy_min }: Standing, value: string): boolean {
  return entropy_min === 0 || entropy(value) >= entropy_min;
}

/** How exactly a name means a detector; 0 where it does not. */
export function exactness(name: string, { id, detector, tags }: Named): number {
  if (name === id) return Number.POSITIVE_INFINITY;
  if (name === detector) return Number.MAX_SAFE_INTEGER;
  return tags.some((tag) => covers(name, tag)) ? name.length : 0;
}

/** What holds where no detector has a setting. */
const ON: Standing = { is_enabled: true, severity: null, entropy_min: 0 };
const OFF: Standing = { is_enabled: false, severity: null, entropy_min: 0 };

function settledFor(detection: Detection, named: Named): Standing {
  const settings = detection.detectors
    .map((setting) => ({ setting, exact: exactness(setting.name, named) }))
    .filter(({ exact }) => exact > 0)
    .sort((a, b) => b.exact - a.exact)
    .map(({ setting }) => setting);
  const first = <Key extends keyof DetectorSetting>(key: Key) =>
    settings.find((setting) => setting[key] !== null)?.[key] ?? null;
  return {
    is_enabled: isSwitchedOn(detection, named.tags[0]) && first('enabled') !== false,
    severity: first('severity'),
    entropy_min: first('entropy_min') ?? 0,
  };
}

/** The switch of the family that the first tag belongs to; other families have none. */
function isSwitchedOn(detection: Detection, tag: Tag): boolean {
  if (covers('secret', tag)) return detection.secret_detection;
  if (covers('personal', tag)) return detection.pii_protection;
  if (covers('injection', tag)) return detection.injection_detection;
  return covers('dangerous', tag) ? detection.command_detection : true;
}
