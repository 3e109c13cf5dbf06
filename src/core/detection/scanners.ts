import { customDetector } from '../matching/custom/custom-detector.ts';
import { changedScanner, compileScanner, notationsOf, type Scanner } from '../matching/scanner.ts';
import { isWrittenFor } from '../matching/written-tree.ts';
import type { Detection } from '../types.ts';
import { anchorTree } from './anchor-tree.ts';
import { builtin } from './builtin.ts';
import { standingOf } from './standing.ts';

/** The build sets it when it has seen that the tree is that of the detectors: in what it makes nobody edits them. */
declare const IS_TREE_CHECKED: boolean | undefined;

const scanners = new WeakMap<Detection, Scanner>();
/** With all that is built in: what settings leave of it shares its tables and patterns. */
let whole: Scanner | null = null;

/**
 * What looks at a text under the settings: what is built in, and behind it the patterns of the configuration. Built
 * on first use, and kept as long as the settings are.
 */
export function scannerFor(detection: Detection): Scanner {
  const known = scanners.get(detection);
  if (known !== undefined) return known;
  whole ??= compileScanner(builtin, undefined, isOfBuiltin() ? anchorTree : null);
  const custom = detection.patterns.map(customDetector);
  const scanner = changedScanner(
    whole,
    (detector) => standingOf(detection, detector).is_enabled,
    custom,
    detection.injection_sums,
  );
  scanners.set(detection, scanner);
  return scanner;
}

/** Whether the tree that was made ahead is that of the anchors as they are now. */
function isOfBuiltin(): boolean {
  return typeof IS_TREE_CHECKED !== 'undefined' || isWrittenFor(notationsOf(builtin), anchorTree);
}
