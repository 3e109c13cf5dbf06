import { createLazyValue } from '../../platform/lazy.ts';
import { appliesTo } from './applies-to.ts';
import type { ClassifiersParts } from './classifiers.ts';
import type { Classifiers } from './types.ts';

/** The classifiers of a process that may never call one. */
export interface LazyClassifiers extends Classifiers {
  readonly close: () => Promise<void>;
}

/** Opens the configured classifiers with the first content for them; `null` if none is configured. */
export function openLazyClassifiers(parts: ClassifiersParts): LazyClassifiers | null {
  const { settings } = parts;
  if (settings.length === 0) return null;
  const opened = createLazyValue(async () => (await import('./classifiers.ts')).openClassifiers(parts));
  return {
    appliesTo: (crossing) => settings.some((each) => appliesTo(each, crossing)),
    classify: async (crossing, found) => (await opened.open()).classify(crossing, found),
    close: () => opened.ifOpened(({ close }) => close()),
  };
}
