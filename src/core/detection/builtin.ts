import { commandsInText } from '../commands/in-text.ts';
import { detectors } from '../detectors/index.ts';
import type { Detector } from '../matching/detector.ts';

/** All that is built in and looks at a text, in one order. */
export const builtin: readonly Detector[] = [...detectors, ...commandsInText];
