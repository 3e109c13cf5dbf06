import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { PACKAGE_NAME } from '../../core/names.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder that holds the configurations of projects. */
const PROJECTS = 'projects';

/** Returns the folder for this user's own configuration: below `$XDG_CONFIG_HOME`, by default `~/.config`. */
export function getUserConfigFolder(env: Environment = process.env, home = homedir()): string {
  const { XDG_CONFIG_HOME = '' } = env;
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config'), PACKAGE_NAME);
}

/**
 * Returns the folder in which setup keeps a project's configuration, so that the project itself gets none. Its name
 * contains a digest of the project's path without symbolic links.
 */
export function getProjectConfigFolder(
  project: string,
  env: Environment = process.env,
  home = env.HOME || homedir(),
): string {
  const path = resolveLinks(project);
  const name = basename(path)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 64);
  // Loaded on demand: it would take a fifth of a hook's time, and few hooks get here.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(getUserConfigFolder(env, home), PROJECTS, `${name}-${digest}`);
}

/** Returns the same folder; `null` if setup keeps no configuration for any project. */
export function findProjectConfigFolder(project: string, env: Environment): string | null {
  const projects = join(getUserConfigFolder(env, env.HOME || homedir()), PROJECTS);
  return existsSync(projects) ? getProjectConfigFolder(project, env) : null;
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
