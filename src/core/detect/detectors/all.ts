import type { Detector } from '../matching/detector.ts';
import { files } from './index.ts';

/** All built-in detectors in one list, for who looks at each of them. */
export const detectors: readonly Detector[] = files.flatMap((file) => file());
