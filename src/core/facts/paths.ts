import {
  isCredentialPath,
  isLogPath,
  isStartupPath,
  isSystemPath,
  isTemporary,
  normalPath,
} from '../commands/paths.ts';
import type { Tag } from '../types.ts';

const PATH_UNITS_MAX = 400;
const PATH =
  /^(?:~|\.{1,2}[/\\]|\/[\w.~$%{*@+-]|[A-Za-z]:[/\\]|\\\\|\$HOME|%USERPROFILE%|[\w.@+-]+[/\\][\w.@+/\\*-]*$|\.[\w-]+$|\.\.$)/;

/** Whether a text is one path and nothing else. */
export function isPath(text: string): boolean {
  return text.length <= PATH_UNITS_MAX && PATH.test(text) && !/[\n"'`|;<>]|:\/\/|\s{2}/.test(text);
}

/**
 * What a path says. There is no file system and no working folder here: outside of the workspace is what climbs out
 * of where it began, and what is below a home, a system folder or one for temporary files.
 */
export function tagsOfPath(path: string): readonly Tag[] {
  const normal = normalPath(path);
  const is_home = normal.startsWith('~');
  const is_system = isSystemPath(path);
  const is_temporary = isTemporary(path);
  const has_climbed = /^\.\.(?:\/|$)/.test(normal.replace(/^(?:\.\/)+/, ''));
  const tags: Tag[] = [/^(?:\/|[a-z]:|~)/i.test(normal) ? 'path.absolute' : 'path.relative'];
  if (is_home) tags.push('path.home');
  if (is_system) tags.push('path.system');
  if (is_temporary) tags.push('path.temporary');
  if (is_home || is_system || is_temporary || has_climbed) tags.push('path.outside_workspace');
  if (isCredentialPath(path)) tags.push('path.credential_file');
  if (isStartupPath(path)) tags.push('path.startup_file');
  if (isLogPath(path)) tags.push('path.log');
  return tags;
}
