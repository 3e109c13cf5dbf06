import { buildConfigSchema } from '../runtime/config/sections.ts';
import { type ConfigRequest, type ConfigResult, loadConfigWith } from '../runtime/policies/load-config.ts';
import { featureSettings } from './feature-settings.ts';

/** The schema of `service.yaml`, with the sections of all features. */
export const configSchema = buildConfigSchema(featureSettings);

/** Reads and checks the configuration, with the sections of all features. Never throws for the content of a file. */
export function loadConfig(request: ConfigRequest): Promise<ConfigResult> {
  return loadConfigWith(request, featureSettings);
}
