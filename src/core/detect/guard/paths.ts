import { memoize } from '../../memoize.ts';
import { EARLIER_NAME, PACKAGE_NAME } from '../../names.ts';
import type { GuardedPaths } from '../../types/policy.ts';
import { AGENT_TRACES } from '../agent-traces.ts';
import { isWholeSystemPath } from '../facts/command-paths.ts';
import { listCanonicalPaths, normalizePath } from '../facts/path-form.ts';
import { compilePathGlob, type PathGlob } from './path-glob.ts';

/** Groups of files on which this service, or the hooks that call it, depend. */
export type GuardedGroup = 'state' | 'configuration' | 'agent_settings' | 'startup_file';

/** Guarded paths, relative to the possible start folders of a relative path; `null`: the folder is unknown. */
export interface GuardView {
  readonly paths: GuardedPaths;
  readonly folders: readonly string[] | null;
  /** Program names that the configuration declares as wrappers. */
  readonly wrappers?: readonly string[];
}

/** The guarded paths without a configuration: the files that `init` writes, relative to an unknown folder. */
export const DEFAULT_GUARDED_PATHS: GuardedPaths = {
  home: null,
  base_dir: '/-',
  state_dirs: ['/-/.service'],
  files: [
    '/-/service.yaml',
    '/-/service.yml',
    '/-/skills.lock',
    '/-/policies/*.yaml',
    '/-/contracts/*.yaml',
    '/-/agents/*.yaml',
    '/-/schemas/*.yaml',
  ],
};

export const DEFAULT_GUARD_VIEW: GuardView = { paths: DEFAULT_GUARDED_PATHS, folders: null };

const PATH_UNITS_MAX = 1_024;
const FOLDERS_MAX = 32;

/** Returns the paths that a system may open for a written one, in lower case; none for a text that is too long. */
function listComparablePaths(written: string): readonly string[] {
  if (written.length > PATH_UNITS_MAX) return [];
  return listCanonicalPaths(written)
    .map((path) => path.toLowerCase())
    .filter((path) => path !== '');
}

function toComparablePath(written: string): string | null {
  return listComparablePaths(written)[0] ?? null;
}

/** Returns the group of a path; `null` for an ordinary path. */
export function findGuardedGroup(written: string, view: GuardView): GuardedGroup | null {
  for (const path of listComparablePaths(written)) {
    const group = mayBeGuarded(path, view) ? getGroup(path, view) : null;
    if (group !== null) return group;
  }
  return null;
}

function getGroup(path: string, view: GuardView): GuardedGroup | null {
  if (hasStateSegment(path)) return 'state';
  const compiled = compiledPaths(view.paths);
  const candidates = listAbsolutePaths(path, view);
  if (candidates.some((each) => isBelowAny(each, compiled.state_dirs))) return 'state';
  if (candidates.some(hasStateSegment)) return 'state';
  if (candidates.some((each) => matchesFile(each, compiled))) return 'configuration';
  // A configuration in the user's own folder is not where agents work, so it gives no folder to an unknown one.
  const settings =
    view.folders === null ? candidates.filter((each) => !isBelowAny(each, compiled.own_bases)) : candidates;
  if ([path, ...settings].some((each) => AGENT_SETTINGS.test(each))) return 'agent_settings';
  return [path, ...candidates].some((each) => isStartupFile(each, compiled.home)) ? 'startup_file' : null;
}

/** Returns the group of a folder whose content is deleted or moved with it; other rules protect whole systems. */
export function findGroupOfFolder(written: string, view: GuardView): GuardedGroup | null {
  const path = toComparablePath(written);
  if (path === null || isWholeSystemPath(path) || !/[a-z\d]/.test(path)) return null;
  if (SETTINGS_FOLDER.test(path)) return 'agent_settings';
  const { state_dirs, folders } = compiledPaths(view.paths);
  const candidates = listAbsolutePaths(path, view);
  if (candidates.some((each) => state_dirs.some((dir) => isBelow(dir, each)))) return 'state';
  return candidates.some((each) => folders.some((folder) => isBelow(folder, each))) ? 'configuration' : null;
}

/** Returns whether a path is a folder of this service's documents. */
export function isDocumentFolder(written: string, view: GuardView): boolean {
  const path = toComparablePath(written);
  if (path === null || !mayBeGuarded(path, view)) return false;
  const { folders } = compiledPaths(view.paths);
  return listAbsolutePaths(path, view).some((each) => folders.includes(each));
}

/** A quick test. Most paths contain none of these, and so need no further test. */
const CUE = new RegExp(
  [
    'service|skills\\.lock|polic|contract|agents?/|schema|operator-token|customshouse|agent-safety|opencode|rc$|profile|\\.z',
    '\\.bash|login|logout|autostart|systemd|environment|launchagents|fish|xsession|xinit|\\.kshrc|[*?[\\]$]',
    ...new Set(
      [...AGENT_TRACES.guarded_files, ...AGENT_TRACES.guarded_folders.map((path) => `${path}/`)]
        .map(findCue)
        .filter((cue) => !/^\.?$/.test(cue))
        .map(escapePattern),
    ),
  ].join('|'),
);

function mayBeGuarded(path: string, view: GuardView): boolean {
  return CUE.test(path) || view.folders !== null || view.paths !== DEFAULT_GUARDED_PATHS;
}

/** Returns whether a segment is the name of a state folder, or a pattern that a shell expands to it. */
function hasStateSegment(path: string): boolean {
  if (!path.includes('.s') && !/[*?[]/.test(path)) return false;
  const segments = path.split('/');
  if (KEY_FILES.test(segments.at(-1)!) && /[*?[]/.test(segments.at(-2) ?? '')) return true;
  return segments.some((segment) => segment === STATE_NAME || isStatePattern(segment));
}

const STATE_NAME = '.service';
/** Names of key files, of which a glob can name the folder. */
const KEY_FILES = /^(?:operator-t|agent-t|memory-k|fingerprint-k)[\w*?[\]-]*$/;

/**
 * Returns whether a segment is a pattern for the state folder. Shells do not expand a pattern to a name with
 * a dot unless the pattern begins with one.
 */
function isStatePattern(segment: string): boolean {
  if (!/[*?[]/.test(segment) || !/^[.[]/.test(segment)) return false;
  return segment !== '.*' && compilePathGlob(segment).test(STATE_NAME);
}

/**
 * Returns whether a file of the state folder is a record that holds no key: the audit log or the daemon's
 * log.
 */
export function isStateRecord(written: string): boolean {
  return /(?:^|\/)(?:journal(?:\/|$)|daemon\.log$)/.test(toComparablePath(written) ?? '');
}

/** Returns the absolute paths that a path may mean. */
function listAbsolutePaths(path: string, view: GuardView): readonly string[] {
  if (/^(?:\/|[a-z]:)/.test(path)) return [path];
  const { home, bases } = compiledPaths(view.paths);
  if (path === '~' || path.startsWith('~/')) return home === null ? [] : [home + path.slice(1)];
  const unknown = path.lastIndexOf('$');
  const rest = unknown < 0 ? path : path.slice(path.indexOf('/', unknown) + 1);
  if (unknown >= 0 && !path.includes('/', unknown)) return [];
  const folders = unknown < 0 && view.folders !== null ? view.folders : bases;
  const paths = folders.map((folder) => normalizePath(`${folder}/${rest}`));
  // The depth of the unknown folder below the base is unknown too.
  return view.folders === null && rest.startsWith('../../')
    ? [...paths, ...bases.map((folder) => `${folder}/${rest.replace(/^(?:\.\.\/)+/, '')}`)]
    : paths;
}

/** Returns the view after a `cd`; `null` is a folder that the script does not state literally. */
export function enterFolder(view: GuardView, target: string | null): GuardView {
  const path = target === null ? null : toComparablePath(target);
  if (path === null) return { ...view, folders: null };
  const { home, bases } = compiledPaths(view.paths);
  const rest = path.startsWith('~') && home !== null ? home + path.slice(1) : path;
  if (/^(?:\/|[a-z]:|~)/.test(rest)) return { ...view, folders: [rest] };
  const folders = (view.folders ?? bases).map((folder) => normalizePath(`${folder}/${rest}`));
  return { ...view, folders };
}

/**
 * Builds the view of a crossing from the guarded paths of its policy and the working folder that the caller
 * names.
 */
export function buildGuardView(paths: GuardedPaths = DEFAULT_GUARDED_PATHS, workingDir?: string): GuardView {
  const folder = workingDir === undefined ? null : toComparablePath(workingDir);
  if (folder === null && paths === DEFAULT_GUARDED_PATHS) return DEFAULT_GUARD_VIEW;
  return { paths, folders: folder === null || !/^(?:\/|[a-z]:)/.test(folder) ? null : [folder] };
}

interface CompiledPaths {
  readonly home: string | null;
  readonly state_dirs: readonly string[];
  /** One pattern for each guarded file. */
  readonly files: readonly PathGlob[];
  /** A path that each of the patterns matches, for paths that are patterns themselves. */
  readonly samples: readonly string[];
  /** Folders that hold guarded files. */
  readonly folders: readonly string[];
  /** Possible start folders of a relative path if the folder is unknown. */
  readonly bases: readonly string[];
  /** Those of them that are guarded as a whole. */
  readonly own_bases: readonly string[];
}

const compiledPaths = memoize((paths: GuardedPaths): CompiledPaths => {
  const home = paths.home === null ? null : toComparablePath(paths.home);
  const stateDirs = paths.state_dirs.map((dir) => toComparablePath(dir) ?? dir);
  const files = paths.files.map((file) => toComparablePath(file) ?? file);
  const base = toComparablePath(paths.base_dir) ?? paths.base_dir;
  const folders = [...new Set(files.map(getLiteralFolder))].filter((folder) => folder !== base);
  const bases = [...new Set([base, ...listAncestors(base)])].slice(0, FOLDERS_MAX);
  return {
    home,
    state_dirs: stateDirs,
    files: files.map(compilePathGlob),
    samples: files.map((file) => file.replace(/\*\*\/?|\*|\?/g, 'x').replace(/\{([^,}]*)[^}]*\}/g, '$1')),
    folders,
    bases,
    own_bases: bases.filter((each) => AGENT_SETTINGS.test(`${each}/x`)),
  };
});

function matchesFile(path: string, { files, samples, folders }: CompiledPaths): boolean {
  if (files.some((pattern) => pattern.test(path))) return true;
  if (!/[*?[]/.test(path)) return false;
  // A bare `*` matches every file of a folder. It means the guarded ones only in a folder of documents.
  const namesAll = !/[a-z\d]/.test(path.slice(path.lastIndexOf('/')));
  if (namesAll && !isBelowAny(getLiteralFolder(path), folders)) return false;
  const pattern = compilePathGlob(path);
  return samples.some((sample) => pattern.test(sample));
}

/**
 * Returns whether a path is a glob that selects files by type only (`**\/*.yaml`; for a formatter also
 * `*.yaml`) and is not in a folder of documents.
 */
export function isBroadGlob(written: string, view: GuardView, use: 'write' | 'format'): boolean {
  const path = toComparablePath(written);
  if (path === null || !/[*?[]/.test(path)) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!/^\*+(?:\.(?:[a-z\d*]{1,16}|\{[^{}]{1,200}\}|\[[^\]]{1,40}\]))*$/.test(name)) return false;
  if (use === 'write' && !/(?:^|\/)\*\*(?:\/|$)/.test(path)) return false;
  const { folders } = compiledPaths(view.paths);
  const literal = getLiteralFolder(path);
  return (
    ![literal, ...listAbsolutePaths(literal, view)].some((each) => isBelowAny(each, folders)) &&
    !hasFolderName(path)
  );
}

/** Returns whether a segment of a glob, other than its last one, names a folder. */
function hasFolderName(path: string): boolean {
  const wild = path.search(/[*?[{]/);
  const at = path.lastIndexOf('/', wild);
  const parent = path.slice(at + 1, Math.max(path.lastIndexOf('/'), at + 1));
  return /[a-z\d]/.test(parent);
}

/** Returns the folder of a file; for a pattern, the folder of its literal part. */
function getLiteralFolder(file: string): string {
  const wild = file.search(/[*?[{]/);
  const literal = wild < 0 ? file : file.slice(0, wild);
  return literal.slice(0, Math.max(literal.lastIndexOf('/'), 0));
}

function listAncestors(folder: string): readonly string[] {
  const parts = folder.split('/');
  return parts.slice(1, -1).map((_, at) => parts.slice(0, parts.length - 1 - at).join('/'));
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function isBelowAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isBelow(path, folder));
}

/** Returns whether a path is a folder or lies in it. */
function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Settings of coding agents that hold hooks, or switches that turn hooks or questions off; and the installed program. */
/** The program, a user's configuration, and the plug-ins that the user trusts. */
const OWN_FOLDERS = [PACKAGE_NAME, EARLIER_NAME].flatMap((name) => [
  `node_modules/${name}`,
  `.config/${name}`,
  `${name}/trusted-plugins`,
]);
const AGENT_SETTINGS = compileAlternatives([
  ...AGENT_TRACES.guarded_files,
  ...OWN_FOLDERS.map((folder) => `${folder}/**`),
]);
const SETTINGS_FOLDER = compileAlternatives([...AGENT_TRACES.guarded_folders, ...OWN_FOLDERS]);

/** Compiles the notation of `AgentTraces.guarded_files` into one expression. */
function compileAlternatives(paths: readonly string[]): RegExp {
  const sources = paths.map((path) => {
    const source = escapePattern(path.replace(/^\.\//, '')).replace(/\/\\\*\\\*$/, '/.+');
    if (path.startsWith('./')) return `^(?:/-/|\\./)?${source}$`;
    return `${path.startsWith('/') ? '^' : '(?:^|/)'}${source}$`;
  });
  return new RegExp(sources.join('|'));
}

/** Returns the longest folder of a path, which every path that matches contains. */
function findCue(path: string): string {
  const folders = path
    .replace(/\/\*\*$/, '/')
    .split('/')
    .slice(0, -1);
  return folders.reduce((longest, each) => (each.length > longest.length ? each : longest), '');
}

const HOME = /^(?:~|\/home\/[^/]+|\/users\/[^/]+|\/root|[a-z]:\/users\/[^/]+)\//;
const STARTUP =
  /^(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|zlogout|cshrc|tcshrc|login|kshrc|xprofile|xsessionrc|xinitrc|pam_environment)|\.config\/(?:fish\/(?:config\.fish|conf\.d\/.+)|autostart\/.+|systemd\/user\/.+|environment\.d\/.+)|\.local\/share\/systemd\/user\/.+|library\/launchagents\/.+|documents\/(?:windows)?powershell\/.*profile\.ps1)$/;

/** Returns whether a path is a file in a home folder that runs at each login or in each new shell. */
function isStartupFile(path: string, home: string | null): boolean {
  const rest = home !== null && isBelow(path, home) ? path.slice(home.length + 1) : path.replace(HOME, '');
  return rest !== path && STARTUP.test(rest);
}
