import type { Detector } from '../matching/detector.ts';
import { detectorFiles } from './index.ts';

/** All built-in detectors in one list, for callers that iterate over them. */
export const allDetectors: readonly Detector[] = detectorFiles.flatMap((file) => file());
