import type { CustomPattern } from '../../../types/index.ts';
import type { Detector } from '../detector.ts';
import { compileLinearPattern } from './linear-pattern.ts';

/** A pattern of the configuration as a detector. Its examples were tried when the configuration was read. */
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
