import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PACKAGE_NAME } from '../../core/names.ts';

/** Returns the folder for this user's own configuration: below `$XDG_CONFIG_HOME`, by default `~/.config`. */
export function getUserConfigFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir(),
): string {
  const { XDG_CONFIG_HOME = '' } = env;
  return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, '.config'), PACKAGE_NAME);
}
