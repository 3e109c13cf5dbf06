import type { DocumentProblem } from '../../core/types/index.ts';
import type { Log } from '../../platform/log.ts';
import { type Config, formatProblem } from '../config/index.ts';
import type { PluginsInUse } from './types.ts';

/** Returns whether a configuration names any plug-in. If not, no module of this folder is loaded. */
export function hasPlugins({ plugins }: Config): boolean {
  return plugins.files.length + plugins.packages.length > 0;
}

/** Returns a problem for each reason that excludes a plug-in. */
export function listExcludedProblems({ plugins }: Pick<PluginsInUse, 'plugins'>): DocumentProblem[] {
  return plugins.flatMap(({ from, problems }) =>
    problems.map((problem) => ({
      ...problem,
      message: `${problem.message} The plug-in ${from} is left out.`,
    })),
  );
}

/** Logs each reason that excludes a plug-in. */
export function logExcludedPlugins(plugins: PluginsInUse, log: Pick<Log, 'warn'>): void {
  for (const problem of listExcludedProblems(plugins))
    log.warn('a plug-in is left out', { problem: formatProblem(problem) });
}

/** Returns the plug-ins in use that would now be excluded. Without them, their detectors would find nothing. */
export function findBrokenPlugins(running: PluginsInUse, next: PluginsInUse): DocumentProblem[] {
  const active = running.plugins.filter(({ status }) => status === 'active').map(({ from }) => from);
  return listExcludedProblems({
    plugins: next.plugins.filter(({ status, from }) => status === 'rejected' && active.includes(from)),
  });
}
