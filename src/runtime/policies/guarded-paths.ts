import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import type { GuardedPaths } from '../../core/types/policy.ts';
import type { Config } from '../config/index.ts';
import { resolveRealPath } from '../config/real-file.ts';
import { LOCK_FILE } from '../packages/lock-name.ts';
import { buildWatchList } from './watch.ts';

const OWN_NAMES = ['service.yaml', 'service.yml'];

/** Returns the files that define the decisions of a configuration, as written and with links resolved. */
export function listGuardedPaths(config: Config): GuardedPaths {
  const { base_dir, files, patterns } = buildWatchList(config);
  const { file } = config.origin;
  // A hook without `--config` uses the first of these names that exists.
  const own = file === null || OWN_NAMES.includes(basename(file)) ? OWN_NAMES : [];
  const named = [...files, ...own, LOCK_FILE, ...patterns].flatMap((each) =>
    [base_dir, resolveRealPath(base_dir)].map((folder) => (isAbsolute(each) ? each : join(folder, each))),
  );
  const linked = file === null ? [] : [resolveRealPath(resolve(base_dir, file))];
  const stateDir = resolve(base_dir, config.state_dir);
  return {
    home: homedir() || null,
    base_dir,
    state_dirs: [...new Set([stateDir, resolveRealPath(stateDir)])],
    files: [...new Set([...named, ...linked])].sort(),
  };
}
