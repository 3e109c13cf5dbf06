import { builtin } from '../detectors/builtin.ts';
import { customDetector } from '../matching/custom/custom-detector.ts';
import { compileScanner, narrowed, type Scanner } from '../matching/scanner.ts';
import type { Detection } from '../types.ts';
import { anchorTables } from './anchor-tables.ts';
import { standingOf } from './standing.ts';

/** What looks at a text, one after the other: what is built in, and the patterns of the configuration. */
export interface Scanners {
  readonly builtin: Scanner;
  /** `null` where there are none. */
  readonly custom: Scanner | null;
}

const scanners = new WeakMap<Detection, Scanners>();
/** With all detectors: what the settings leave of it shares its tables and patterns. */
let whole: Scanner | null = null;

/** Built on first use, and kept as long as the settings are. */
export function scannersFor(detection: Detection): Scanners {
  let made = scanners.get(detection);
  if (made === undefined) {
    made = { builtin: builtinFor(detection), custom: customFor(detection) };
    scanners.set(detection, made);
  }
  return made;
}

function builtinFor(detection: Detection): Scanner {
  whole ??= compileScanner(builtin, { made: anchorTables });
  const { injection_sums } = detection;
  return narrowed(whole, (detector) => standingOf(detection, detector).is_enabled, injection_sums);
}

function customFor(detection: Detection): Scanner | null {
  const custom = detection.patterns.map(customDetector);
  const enabled = custom.filter((detector) => standingOf(detection, detector).is_enabled);
  return enabled.length === 0 ? null : compileScanner(enabled);
}
