import type { Detector } from '../matching/detector.ts';
import { files } from './index.ts';

/** All built-in detectors in one list, for callers that iterate over them. */
export const detectors: readonly Detector[] = files.flatMap((file) => file());
