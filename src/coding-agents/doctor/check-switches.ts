import type { CodingAgent } from '../record/coding-agent.ts';
import type { HookSwitches, LocatedHook, SettingsFile } from '../record/doctor.ts';
import type { Machine } from '../record/settings.ts';

/**
 * Checks which hooks the settings of an agent disable, all at once or one by one.
 * @param hooks the hooks under test
 * @param files the settings files of all scopes
 */
export function checkSwitches(
  { doctor }: CodingAgent,
  hooks: readonly LocatedHook[],
  files: readonly SettingsFile[],
  machine: Machine,
): HookSwitches {
  if (hooks.length === 0) return { checks: [], off: new Set() };
  const ofAll = doctor.checkAllHooks?.(files) ?? [];
  const single = doctor.checkSingleHooks?.(hooks, files, machine) ?? { checks: [], off: new Set() };
  const unmanaged = hooks.filter(({ file }) => file.location.scope !== 'managed').map(({ hook }) => hook);
  return {
    checks: [...ofAll, ...single.checks],
    off: ofAll.length > 0 ? new Set(unmanaged) : single.off,
  };
}
