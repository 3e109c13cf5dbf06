import type { LazyModel, ModelSettings } from '../../operations/model-backend.ts';
import { createLazyValue } from '../../platform/lazy.ts';

/**
 * Prepares a model. The code that calls it is loaded with the first call.
 *
 * @param env - the environment that holds the key
 */
export function prepareModel(settings: ModelSettings, env: NodeJS.ProcessEnv): LazyModel {
  const backend = createLazyValue(async () =>
    (await import('./model-backend.ts')).openModelBackend(settings, env),
  );
  return { open: backend.open, close: () => backend.ifOpened(({ close }) => close()) };
}
