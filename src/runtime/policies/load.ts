import type { DocumentProblem, Policy } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { buildProblem } from '../config/problem-text.ts';
import { findBrokenPlugins } from '../plugins/named.ts';
import type { PluginsInUse } from '../plugins/types.ts';
import type { SecretReading } from '../secrets/references.ts';
import { type ConfigRequest, loadConfig } from './load-config.ts';
import { loadPolicy, type PatternMatches } from './load-policy.ts';
import { findRestartKeys } from './restart-keys.ts';

/** A configuration with the policy that it asks for. */
export interface ConfiguredPolicy {
  readonly config: Config;
  readonly policy: Policy;
  readonly files: readonly string[];
  readonly patterns: PatternMatches;
  readonly plugins: PluginsInUse;
  readonly warnings: readonly DocumentProblem[];
}

export type LoadResult = (
  | ({ readonly ok: true } & ConfiguredPolicy)
  | {
      readonly ok: false;
      readonly problems: readonly DocumentProblem[];
      readonly warnings: readonly DocumentProblem[];
    }
) & {
  /** Which secrets the configuration asked for. */
  readonly secret_readings: readonly SecretReading[];
};

/** Reads the configuration and all that it names. All of it, or none. */
export async function loadConfiguredPolicy(request: ConfigRequest): Promise<LoadResult> {
  const read = await loadConfig(request);
  const { secret_readings } = read;
  if (!read.ok) return { ok: false, problems: read.problems, warnings: [], secret_readings };
  const made = await loadPolicy(read.config);
  const warnings = [...read.warnings, ...made.warnings];
  if (!made.ok) return { ok: false, problems: made.problems, warnings, secret_readings };
  const { policy, files, patterns, plugins } = made;
  return { ok: true, config: read.config, policy, files, patterns, plugins, warnings, secret_readings };
}

/** What is in force, as far as a reload compares with it. */
export interface ActivePolicy {
  readonly config: Config;
  readonly patterns: PatternMatches;
  readonly plugins: PluginsInUse;
}

/**
 * Reads everything again for a service that runs with `running`, which began with `started`. The answer is whole
 * or says why it is not; either way `running` is untouched. A key that only a restart can change is a warning,
 * each time. Rules do not go without a word: where the configuration file is gone, or all files of a pattern that
 * had some, as with a folder that is not mounted, that is a problem. So is a plug-in that was in
 * use and would be left out.
 */
export async function reloadConfiguredPolicy(
  request: ConfigRequest,
  started: Config,
  running: ActivePolicy,
): Promise<LoadResult> {
  const next = await loadConfiguredPolicy(request);
  if (!next.ok) return next;
  const problems = [...goneSince(running, next), ...findBrokenPlugins(running.plugins, next.plugins)];
  const { warnings, secret_readings } = next;
  if (problems.length > 0) return { ok: false, problems, warnings, secret_readings };
  return { ...next, warnings: [...warnings, ...findRestartKeys(started, next.config)] };
}

function goneSince(running: ActivePolicy, next: ConfiguredPolicy): DocumentProblem[] {
  const { file, label } = running.config.origin;
  if (file !== null && next.config.origin.file === null)
    return [buildProblem(label, [], 'is gone; put it back, or start the service again without it')];
  return next.patterns.empty
    .filter(({ id }) => running.patterns.filled.includes(id))
    .map(({ pattern, steps }) => {
      const gone = `finds no file any more, and there were some in \`${pattern}\`; put one back, change \`paths\`, or start the service again`;
      return buildProblem(next.config.origin.label, steps, gone);
    });
}
