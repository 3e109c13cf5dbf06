import type { Dialect } from '../../coding-agents/record/dialect.ts';
import type { HookLocation } from './hook-location.ts';
import { getHookVersion } from './hook-version.ts';
import { buildPluginDialect } from './plugin-dialect.ts';
import { requestDialect } from './request-decision.ts';

/**
 * Returns the dialect that a plug-in of the configuration describes; `null` if none has this name. The process that
 * owns the state folder has the plug-ins loaded. If none runs, they are loaded here.
 *
 * @throws StartFailure if the configuration cannot be read
 */
export async function findPluginDialect(
  name: string,
  location: HookLocation,
  user: string,
): Promise<Dialect | null> {
  const { state_dir, config_file } = location;
  if (state_dir !== null) {
    const reply = await requestDialect(name, { state_dir, config_file, version: getHookVersion(), user });
    if ('dialect' in reply) return reply.dialect === null ? null : buildPluginDialect(reply.dialect);
  }
  const { loadLocalDialect } = await import('./decide-locally.ts');
  const declared = await loadLocalDialect(name, location);
  return declared === null ? null : buildPluginDialect(declared);
}
