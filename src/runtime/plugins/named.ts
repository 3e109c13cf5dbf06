import type { DocumentProblem } from '../../core/types/index.ts';
import type { Log } from '../../platform/log.ts';
import { type Config, formatProblem } from '../config/index.ts';
import type { PluginsInUse } from './types.ts';

/** Whether a configuration names any plug-in: where it names none, nothing of this folder is loaded. */
export function hasPlugins({ plugins }: Config): boolean {
  return plugins.files.length + plugins.packages.length > 0;
}

/** A problem for each thing that keeps a plug-in out. */
export function listExcludedProblems({ plugins }: Pick<PluginsInUse, 'plugins'>): DocumentProblem[] {
  return plugins.flatMap(({ from, problems }) =>
    problems.map((problem) => ({
      ...problem,
      message: `${problem.message} The plug-in ${from} is left out.`,
    })),
  );
}

/** A line in the log for each thing that keeps a plug-in out. */
export function logExcludedPlugins(plugins: PluginsInUse, log: Pick<Log, 'warn'>): void {
  for (const problem of listExcludedProblems(plugins))
    log.warn('a plug-in is left out', { problem: formatProblem(problem) });
}

/** Plug-ins that were in use and would now be left out: what they found would go unseen. */
export function findBrokenPlugins(running: PluginsInUse, next: PluginsInUse): DocumentProblem[] {
  const active = running.plugins.filter(({ status }) => status === 'active').map(({ from }) => from);
  return listExcludedProblems({
    plugins: next.plugins.filter(({ status, from }) => status === 'rejected' && active.includes(from)),
  });
}
