import type { DocumentProblem, Policy } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { problemAt } from '../config/problem-text.ts';
import { brokenSince } from '../plugins/named.ts';
import type { PluginsInUse } from '../plugins/types.ts';
import type { SecretReading } from '../secrets/references.ts';
import { type ConfigRequest, loadConfig } from './load-config.ts';
import { loadPolicy, type Patterns } from './load-policy.ts';
import { restartKeys } from './restart-keys.ts';

/** A configuration with the policy that it asks for. */
export interface Loaded {
  readonly config: Config;
  readonly policy: Policy;
  readonly files: readonly string[];
  readonly patterns: Patterns;
  readonly plugins: PluginsInUse;
  readonly warnings: readonly DocumentProblem[];
}

export type LoadResult = (
  | ({ readonly ok: true } & Loaded)
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
export async function load(request: ConfigRequest): Promise<LoadResult> {
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
export interface InForce {
  readonly config: Config;
  readonly patterns: Patterns;
  readonly plugins: PluginsInUse;
}

/**
 * Reads everything again for a service that runs with `running`, which began with `started`. The answer is whole
 * or says why it is not; either way `running` is untouched. A key that only a restart can change is a warning,
 * each time. Rules do not go without a word: where the configuration file is gone, or all files of a pattern that
 * had some, as with a folder that is not mounted, that is a problem. So is a plug-in that was in
 * use and would be left out.
 */
export async function reload(request: ConfigRequest, started: Config, running: InForce): Promise<LoadResult> {
  const next = await load(request);
  if (!next.ok) return next;
  const problems = [...goneSince(running, next), ...brokenSince(running.plugins, next.plugins)];
  const { warnings, secret_readings } = next;
  if (problems.length > 0) return { ok: false, problems, warnings, secret_readings };
  return { ...next, warnings: [...warnings, ...restartKeys(started, next.config)] };
}

function goneSince(running: InForce, next: Loaded): DocumentProblem[] {
  const { file, label } = running.config.origin;
  if (file !== null && next.config.origin.file === null)
    return [problemAt(label, [], 'is gone; put it back, or start the service again without it')];
  return next.patterns.empty
    .filter(({ id }) => running.patterns.filled.includes(id))
    .map(({ pattern, steps }) => {
      const gone = `finds no file any more, and there were some in \`${pattern}\`; put one back, change \`paths\`, or start the service again`;
      return problemAt(next.config.origin.label, steps, gone);
    });
}
