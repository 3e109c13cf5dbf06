import type { Tag } from '../../types/index.ts';
import { isDisk, isLogPath, isStartupPath, isSystemPath, isTemporary } from './command-paths.ts';
import { isCredentialPath } from './credential-files.ts';
import { listCanonicalPaths } from './path-form.ts';

const PATH_UNITS_MAX = 400;
const PATH =
  /^(?:~|\.{1,2}[/\\]|\/[\w.~$%{*@+-]|[A-Za-z]:[/\\]|\\\\|\$HOME|%USERPROFILE%|[\w.@+*-]+[/\\][\w.@+/\\*{},-]*$|\.[\w-]+$|\.\.$)/;
const PATH_KEY =
  /^(?:(?:\w{1,20}[_-])?(?:path|paths|file|files|filename|filenames|filepath|filepaths|glob|globs|dir|dirs|directory|directories|folder|folders|cwd)|(?:file|dir|directory|folder|notebook|absolute|relative|target|source|src|dest|destination|old|new|root|working|base|full|local|remote|input|output)(?:File|Path|Paths|Dir|Directory|Folder|Name)+|include|includes|include_?patterns?|src|source|dst|dest|destination|uri|uris|root|roots|attachment|attachments|pattern|patterns)$/i;
/**
 * Keys of the text for which a search tool searches. It is a regular expression or a word, and names no file.
 */
const SOUGHT_KEY = /^(?:patterns?|query|queries|regexp?)$/i;
const SEARCHES_TEXT = /grep|search|(?:^|[_.-])rg$/i;
const LINES_MAX = 200;

/**
 * Classifies the strings under a key of a tool's arguments: a path or glob, or a text to search for in files;
 * `null` if the key has no known meaning.
 * @param tool - the name of the tool, or `null`
 */
export function classifyPathKey(key: string, tool: string | null): 'path' | 'sought' | null {
  if (key.length > 40) return null;
  if (tool !== null && SOUGHT_KEY.test(key) && SEARCHES_TEXT.test(tool)) return 'sought';
  return PATH_KEY.test(key) ? 'path' : null;
}

/**
 * Returns the paths in the value of a key that names paths, one for each line. Remote addresses are left out.
 */
export function findPaths(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/, LINES_MAX)
    .filter(
      (line) =>
        line.trim() !== '' &&
        (!/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(line) || /^\s*(?:vscode-)?file:/i.test(line)),
    );
}

/** Returns whether a text is one path and nothing else. */
export function isSinglePath(text: string): boolean {
  if (text.length > PATH_UNITS_MAX || /[^\s]\s*\n\s*[^\s]/.test(text)) return false;
  return listCanonicalPaths(text).some(
    (path) =>
      !/["'`|;<>]|:\/\/|\s{2}/.test(path) &&
      (PATH.test(path) || (!/\s/.test(path) && isCredentialPath(path))),
  );
}

/** A folder for projects among system and temporary folders. Any wider folder also holds files of others. */
const PROJECT = /^\/(?:srv|opt|root|var\/www|tmp|var\/tmp)\/[^./][^/]*(?:\/|$)/;

/** Returns the canonical form of a working folder that counts as a workspace; `null` for any other folder. */
export function findWorkspace(workingDir: string): string | null {
  const [path = '', ...others] = listCanonicalPaths(workingDir);
  return others.length === 0 && PROJECT.test(path) ? path.replace(/\/$/, '') : null;
}

/**
 * Returns the tags of a path, without a file system. A path is outside the workspace if it leads above its start, or if
 * it is below a home, a system folder, a device or a folder for temporary files, and not below the workspace.
 */
export function buildPathTags(written: string, workspace: string | null = null): readonly Tag[] {
  const tags = new Set<Tag>();
  if (/^\s*\\\\[^?.\\]/.test(written)) tags.add('path.outside_workspace');
  if (isDisk(written.trim())) tags.add('path.system').add('path.outside_workspace');
  for (const path of listCanonicalPaths(written)) addPlace(tags, path, workspace);
  if (isCredentialPath(written)) tags.add('path.credential_file');
  return [...tags];
}

function addPlace(tags: Set<Tag>, path: string, workspace: string | null): void {
  const isHome = path.startsWith('~');
  // Letter case is ignored, as some systems do.
  const lower = path.toLowerCase();
  const isSystem = isSystemPath(path) || isSystemPath(lower) || isDevice(lower);
  const isTemporaryPath = isTemporary(path);
  const hasClimbed = /^\.\.(?:\/|$)/.test(path.replace(/^(?:\.\/)+/, ''));
  tags.add(/^(?:\/|[a-z]:|~)/i.test(path) ? 'path.absolute' : 'path.relative');
  if (isHome) tags.add('path.home');
  if (isSystem) tags.add('path.system');
  if (isTemporaryPath) tags.add('path.temporary');
  const isInside = workspace !== null && `${path}/`.startsWith(`${workspace}/`);
  if (!isInside && (isHome || isSystem || isTemporaryPath || hasClimbed)) tags.add('path.outside_workspace');
  if (isStartupPath(path) || isStartupPath(lower)) tags.add('path.startup_file');
  if (isLogPath(path)) tags.add('path.log');
}

/** Returns whether a path is a device that holds and keeps nothing, and so is not a system location. */
function isDevice(path: string): boolean {
  return (
    isDisk(path) ||
    /^\/dev\/(?!(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd|shm|ptmx|pts)(?:\/|$))./.test(path)
  );
}
