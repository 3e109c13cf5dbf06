import { commandsInText } from '../commands/in-text.ts';
import { detectors } from '../detectors/index.ts';
import { customDetector } from '../matching/custom/custom-detector.ts';
import { compileScanner, type Scanner } from '../matching/scanner.ts';
import type { Detection } from '../types.ts';
import { standingOf } from './standing.ts';

/** What looks at a text, one after the other: what is built in, and the patterns of the configuration. */
export interface Scanners {
  readonly builtin: Scanner;
  /** `null` where there are none. */
  readonly custom: Scanner | null;
}

const BUILTIN = [...detectors, ...commandsInText];

const scanners = new WeakMap<Detection, Scanners>();
const builtins = new Map<string, Scanner>();
/** Tables of so many choices of built-in detectors are kept; a reload that changes nothing about them finds its own. */
const BUILTINS_MAX = 4;

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
  const enabled = BUILTIN.filter((detector) => standingOf(detection, detector).is_enabled);
  const key = JSON.stringify([enabled.map(({ id }) => id), detection.injection_sums]);
  const scanner = builtins.get(key) ?? compileScanner(enabled, detection.injection_sums);
  builtins.delete(key);
  builtins.set(key, scanner);
  const [oldest] = builtins.keys();
  if (builtins.size > BUILTINS_MAX && oldest !== undefined) builtins.delete(oldest);
  return scanner;
}

function customFor(detection: Detection): Scanner | null {
  const custom = detection.patterns.map(customDetector);
  const enabled = custom.filter((detector) => standingOf(detection, detector).is_enabled);
  return enabled.length === 0 ? null : compileScanner(enabled);
}
