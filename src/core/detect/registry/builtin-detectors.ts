import { detectorFiles } from '../detectors/index.ts';
import { listCommandDetectorsOnDemand } from '../lazy.ts';
import type { DetectorIdentity } from '../matching/detector.ts';
import {
  createDetectorTable,
  type DetectorFile,
  type DetectorTable,
  parseDetectorTable,
} from '../matching/detector-table.ts';

/**
 * The detector table as JSON (`SerializedDetectorTable`), which the build inserts. A built program has no
 * edited detectors, so the table is always current there.
 */
declare const DETECTOR_TABLE: string | undefined;

const serialized: string | null = typeof DETECTOR_TABLE === 'undefined' ? null : DETECTOR_TABLE;

/** True if the detector table was serialized by the build. */
export const isPrebuilt: boolean = serialized !== null;

/** The files of all built-in detectors of text. The order decides the numbers of the detectors. */
export const builtinFiles: readonly DetectorFile[] = [...detectorFiles, listCommandDetectorsOnDemand];

/** All built-in detectors of text. */
export const builtinDetectors: DetectorTable =
  serialized === null
    ? createDetectorTable(builtinFiles.flatMap((file) => file()))
    : parseDetectorTable(JSON.parse(serialized), builtinFiles);

/** Returns the names by which settings can select the built-in detectors of text. */
export function listBuiltinIdentities(): readonly DetectorIdentity[] {
  return Array.from({ length: builtinDetectors.count }, (_, index) => builtinDetectors.identityAt(index));
}
