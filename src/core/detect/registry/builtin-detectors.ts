import { detectorFiles } from '../detectors/index.ts';
import { lazyCommandDetectors } from '../lazy.ts';
import type { DetectorIdentity } from '../matching/detector.ts';
import {
  createDetectorTable,
  type DetectorFile,
  type DetectorTable,
  parseDetectorTable,
} from '../matching/detector-table.ts';

/** The build writes it from the detectors as they are (a `WrittenRoster` in JSON): in what it makes nobody edits them. */
declare const DETECTOR_TABLE: string | undefined;

const serialized: string | null = typeof DETECTOR_TABLE === 'undefined' ? null : DETECTOR_TABLE;

/** Whether what is built in was written ahead. */
export const is_prebuilt: boolean = serialized !== null;

/** The files of all that is built in and looks at a text, in one order. */
export const builtinFiles: readonly DetectorFile[] = [...detectorFiles, lazyCommandDetectors];

/** All that is built in and looks at a text. */
export const builtinDetectors: DetectorTable =
  serialized === null
    ? createDetectorTable(builtinFiles.flatMap((file) => file()))
    : parseDetectorTable(JSON.parse(serialized), builtinFiles);

/** What settings name all of it by. */
export function listBuiltinIdentities(): readonly DetectorIdentity[] {
  return Array.from({ length: builtinDetectors.count }, (_, index) => builtinDetectors.identityAt(index));
}
