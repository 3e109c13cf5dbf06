import type { LoadConfig } from '../runtime/policies/load-config.ts';

/** Reads and checks the configuration. The code is loaded on the first call, because a worker starts without it. */
export const loadConfigLazily: LoadConfig = async (request) =>
  (await import('./load-config.ts')).loadConfig(request);
