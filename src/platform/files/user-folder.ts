import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { PACKAGE_NAME } from '../../core/names.ts';

/** Returns the folder for this user's own configuration: below `$XDG_CONFIG_HOME`, by default `~/.config`. */
export function getUserConfigFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir(),
): string {
  const { XDG_CONFIG_HOME = '' } = env;
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config'), PACKAGE_NAME);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the folder in which setup keeps a project's configuration, so that the project itself gets none. Its name
 * contains the digest for the project's path without symbolic links.
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
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(getUserConfigFolder(env, home), 'projects', `${name}-${digest}`);
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
