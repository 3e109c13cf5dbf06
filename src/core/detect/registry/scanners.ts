import type { Detection } from '../../types/index.ts';
import { lazyCustomDetector } from '../lazy.ts';
import {
  buildScanner,
  collectNotations,
  compileAnchors,
  deriveScanner,
  type Scanner,
} from '../matching/scanner.ts';
import { isSerializedFrom, readAnchorSet } from '../matching/serialized-tree.ts';
import { anchorTree } from './anchor-tree.ts';
import { builtinDetectors, builtinFiles, is_prebuilt } from './builtin-detectors.ts';
import { resolveDetectorSettings } from './detector-settings.ts';

const scanners = new WeakMap<Detection, Scanner>();
/** With all that is built in: what settings leave of it shares its tables and patterns. */
let full_scanner: Scanner | null = null;

/**
 * What looks at a text under the settings: what is built in, and behind it the patterns of the configuration. Built
 * on first use, and kept as long as the settings are.
 */
export function getScanner(detection: Detection): Scanner {
  const known = scanners.get(detection);
  if (known !== undefined) return known;
  full_scanner ??= buildFullScanner();
  const scanner = deriveScanner(
    full_scanner,
    (identity) => resolveDetectorSettings(detection, identity).is_enabled,
    detection.patterns.map(lazyCustomDetector),
    detection.injection_thresholds,
  );
  scanners.set(detection, scanner);
  return scanner;
}

/** Where a detector was edited since the tree was made ahead, another one is grown. */
function buildFullScanner(): Scanner {
  if (is_prebuilt) return buildScanner(builtinDetectors, readAnchorSet(anchorTree));
  const notations = collectNotations(builtinFiles.flatMap((file) => file()));
  return buildScanner(
    builtinDetectors,
    isSerializedFrom(notations, anchorTree) ? readAnchorSet(anchorTree) : compileAnchors(notations),
  );
}
