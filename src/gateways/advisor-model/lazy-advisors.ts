import type { AdvisoryLayer, IntelligenceSettings } from '../../operations/model-backend.ts';
import { createLazyValue } from '../../platform/lazy.ts';

/** The advisory layer of a process that may never ask a model. */
export interface LazyAdvisors {
  readonly layer: AdvisoryLayer;
  readonly close: () => Promise<void>;
}

/**
 * Opens the advisory layer. The code that calls a model is loaded with the first call, so a layer that is off costs
 * nothing and cannot send anything.
 */
export function openLazyAdvisors(settings: IntelligenceSettings, env: NodeJS.ProcessEnv): LazyAdvisors {
  const backend = createLazyValue(async () =>
    (await import('./model-backend.ts')).openModelBackend(settings, env),
  );
  return {
    layer: { settings, backend: backend.open },
    close: () => backend.ifOpened(({ close }) => close()),
  };
}
