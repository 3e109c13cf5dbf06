import type { CustomPattern } from '../../../types/index.ts';
import type { Detector } from '../detector.ts';
import { compileLinearPattern } from './linear-pattern.ts';

/**
 * Builds a detector from a pattern of the configuration. The parser of the configuration has already tested
 * its examples.
 */
export function buildCustomDetector(written: CustomPattern): Detector {
  const { id, detector, tags, severity, description, anchors } = written;
  return {
    id,
    detector,
    tags,
    severity,
    strength: 'shape',
    description,
    anchors,
    pattern: compileLinearPattern(written),
    examples: { hits: [], misses: [] },
  };
}
