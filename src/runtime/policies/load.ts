import type { Policy, Problem } from '../../core/types.ts';
import { type Config, type ConfigRequest, loadConfig } from '../config/index.ts';
import { problemAt } from '../config/problem-text.ts';
import { loadPolicy } from './load-policy.ts';
import { restartKeys } from './restart-keys.ts';

/** A configuration with the policy that it asks for. */
export interface Loaded {
  readonly config: Config;
  readonly policy: Policy;
  readonly files: readonly string[];
  readonly warnings: readonly Problem[];
}

export type LoadResult =
  | ({ readonly ok: true } & Loaded)
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/** Reads the configuration and all that it names. All of it, or none. */
export async function load(request: ConfigRequest): Promise<LoadResult> {
  const read = await loadConfig(request);
  if (!read.ok) return { ok: false, problems: read.problems, warnings: [] };
  const made = await loadPolicy(read.config);
  const warnings = [...read.warnings, ...made.warnings];
  if (!made.ok) return { ok: false, problems: made.problems, warnings };
  return { ok: true, config: read.config, policy: made.policy, files: made.files, warnings };
}

/**
 * Reads everything again for a service that runs with `running`, which began with `started`. The answer is whole
 * or says why it is not; either way `running` is untouched. A key that only a restart can change is a warning,
 * each time. A configuration file that is gone is a problem: it may be about to be replaced, and without it the
 * built-in rules alone would be in force.
 */
export async function reload(
  request: ConfigRequest,
  started: Config,
  running: Config = started,
): Promise<LoadResult> {
  const next = await load(request);
  if (!next.ok) return next;
  const { file, label } = running.origin;
  if (file !== null && next.config.origin.file === null) {
    const gone = 'is gone; put it back, or start the service again without it';
    return { ok: false, problems: [problemAt(label, [], gone)], warnings: next.warnings };
  }
  return { ...next, warnings: [...next.warnings, ...restartKeys(started, next.config)] };
}
