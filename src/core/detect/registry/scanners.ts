import type { Detection } from '../../types/index.ts';
import { buildCustomDetectorOnDemand } from '../lazy.ts';
import {
  buildScanner,
  collectNotations,
  compileAnchors,
  deriveScanner,
  type Scanner,
} from '../matching/scanner.ts';
import { isSerializedFrom, readAnchorSet } from '../matching/serialized-tree.ts';
import { anchorTree } from './anchor-tree.ts';
import { builtinDetectors, builtinFiles, isPrebuilt } from './builtin-detectors.ts';
import { resolveDetectorSettings } from './detector-settings.ts';

const scanners = new WeakMap<Detection, Scanner>();
/** The scanner of all built-in detectors. Scanners for settings share its tables and patterns. */
let fullScanner: Scanner | null = null;

/**
 * Returns the scanner for the settings: the enabled built-in detectors, then the patterns of the
 * configuration. It is built at first use and lives as long as the settings object.
 */
export function getScanner(detection: Detection): Scanner {
  const known = scanners.get(detection);
  if (known !== undefined) return known;
  fullScanner ??= buildFullScanner();
  const scanner = deriveScanner(
    fullScanner,
    (identity) => resolveDetectorSettings(detection, identity).is_enabled,
    detection.patterns.map(buildCustomDetectorOnDemand),
    detection.injection_thresholds,
  );
  scanners.set(detection, scanner);
  return scanner;
}

/**
 * Builds the scanner of all built-in detectors. If a detector was edited since the tree was generated, builds
 * the tree again.
 */
function buildFullScanner(): Scanner {
  if (isPrebuilt) return buildScanner(builtinDetectors, readAnchorSet(anchorTree));
  const notations = collectNotations(builtinFiles.flatMap((file) => file()));
  return buildScanner(
    builtinDetectors,
    isSerializedFrom(notations, anchorTree) ? readAnchorSet(anchorTree) : compileAnchors(notations),
  );
}
