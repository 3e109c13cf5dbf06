import type { DocumentProblem, Policy } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { findBrokenPlugins } from '../plugins/excluded-plugins.ts';
import type { PluginsInUse } from '../plugins/types.ts';
import type { SecretReading } from '../secrets/references.ts';
import type { ConfigRequest, LoadConfig } from './load-config.ts';
import { loadPolicy, type PatternMatches } from './load-policy.ts';
import { findRestartKeys } from './restart-keys.ts';

/** A configuration and its compiled policy. */
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
  /** The secrets that the configuration references. */
  readonly secret_readings: readonly SecretReading[];
};

/**
 * Reads the configuration and all files that it names. A single problem means no result.
 *
 * @param stateDir - the state folder in use, which a changed configuration does not move
 */
export async function loadConfiguredPolicy(
  request: ConfigRequest,
  loadConfig: LoadConfig,
  stateDir?: string,
): Promise<LoadResult> {
  const read = await loadConfig(request);
  const { secret_readings } = read;
  if (!read.ok) return { ok: false, problems: read.problems, warnings: [], secret_readings };
  const made = await loadPolicy(read.config, stateDir === undefined ? {} : { state_dir: stateDir });
  const warnings = [...read.warnings, ...made.warnings];
  if (!made.ok) return { ok: false, problems: made.problems, warnings, secret_readings };
  const { policy, files, patterns, plugins } = made;
  return { ok: true, config: read.config, policy, files, patterns, plugins, warnings, secret_readings };
}

/** The active policy with the parts that a reload compares. */
export interface ActivePolicy {
  readonly config: Config;
  readonly patterns: PatternMatches;
  readonly plugins: PluginsInUse;
}

/**
 * Reads all files again for a running service, whose active policy is `running` and whose configuration at the
 * start was `started`. Returns a complete result or the problems, and never changes `running`. A changed key
 * that needs a restart is a warning, each time. Rules never disappear silently. The reload fails if the
 * configuration file is gone, if a pattern that had files now has none (an unmounted folder, for example), or
 * if a plug-in in use would be excluded.
 */
export async function reloadConfiguredPolicy(
  request: ConfigRequest,
  loadConfig: LoadConfig,
  started: Config,
  running: ActivePolicy,
): Promise<LoadResult> {
  const next = await loadConfiguredPolicy(request, loadConfig, started.state_dir);
  if (!next.ok) return next;
  const problems = [...findGoneFiles(running, next), ...findBrokenPlugins(running.plugins, next.plugins)];
  const { warnings, secret_readings } = next;
  if (problems.length > 0) return { ok: false, problems, warnings, secret_readings };
  return { ...next, warnings: [...warnings, ...findRestartKeys(started, next.config)] };
}

function findGoneFiles(running: ActivePolicy, next: ConfiguredPolicy): DocumentProblem[] {
  const { file, label } = running.config.origin;
  if (file !== null && next.config.origin.file === null)
    return [buildConfigProblem(label, [], 'is gone; put it back, or start the service again without it')];
  return next.patterns.empty
    .filter(({ id }) => running.patterns.filled.includes(id))
    .map(({ pattern, steps }) => {
      const gone = `finds no file any more, and there were some in \`${pattern}\`; put one back, change \`paths\`, or start the service again`;
      return buildConfigProblem(next.config.origin.label, steps, gone);
    });
}
