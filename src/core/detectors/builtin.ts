import { commandsInText } from '../commands/in-text.ts';
import type { Detector } from '../matching/detector.ts';
import { detectors } from './index.ts';

/** All that is built in and looks for places in a text. */
export const builtin: readonly Detector[] = [...detectors, ...commandsInText];
