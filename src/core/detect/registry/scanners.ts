import type { Detection } from '../../types/index.ts';
import { customDetectorLate } from '../lazy.ts';
import { changedScanner, makeAnchors, notationsOf, type Scanner, scannerOf } from '../matching/scanner.ts';
import { isWrittenFor, readAnchors } from '../matching/written-tree.ts';
import { anchorTree } from './anchor-tree.ts';
import { builtin, builtinFiles, is_written } from './builtin.ts';
import { standingOf } from './detector-status.ts';

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
  whole ??= makeWhole();
  const scanner = changedScanner(
    whole,
    (named) => standingOf(detection, named).is_enabled,
    detection.patterns.map(customDetectorLate),
    detection.injection_sums,
  );
  scanners.set(detection, scanner);
  return scanner;
}

/** Where a detector was edited since the tree was made ahead, another one is grown. */
function makeWhole(): Scanner {
  if (is_written) return scannerOf(builtin, readAnchors(anchorTree));
  const notations = notationsOf(builtinFiles.flatMap((file) => file()));
  return scannerOf(
    builtin,
    isWrittenFor(notations, anchorTree) ? readAnchors(anchorTree) : makeAnchors(notations),
  );
}
