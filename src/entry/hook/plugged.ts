import type { Dialect } from '../../coding-agents/record/dialect.ts';
import type { Place } from './place.ts';
import { dialectFrom } from './plugged-dialect.ts';
import { reachDialect } from './reach.ts';
import { hookVersion } from './version.ts';

/**
 * Returns the dialect that a plug-in of the configuration describes; `null` if none has this name. The process that
 * owns the state folder has the plug-ins loaded. If none runs, they are loaded here.
 *
 * @throws StartFailure if the configuration cannot be read
 */
export async function pluggedDialect(name: string, place: Place, user: string): Promise<Dialect | null> {
  const { state_dir, config_file } = place;
  if (state_dir !== null) {
    const reached = await reachDialect(name, { state_dir, config_file, version: hookVersion(), user });
    if ('dialect' in reached) return reached.dialect === null ? null : dialectFrom(reached.dialect);
  }
  const { dialectAlone } = await import('./alone.ts');
  const written = await dialectAlone(name, place);
  return written === null ? null : dialectFrom(written);
}
