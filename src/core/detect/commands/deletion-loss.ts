import { memoize } from '../../memoize.ts';
import type { Severity } from '../../types/index.ts';
import {
  isLogPath,
  isRegenerable,
  isSystemPath,
  isTemporary,
  isWholeSystemPath,
} from '../facts/command-paths.ts';
import { isCredentialPath } from '../facts/credential-files.ts';
import { normalizePath } from '../facts/path-form.ts';
import { followLinks } from '../shell/files.ts';
import { findSearchedPaths, SOME_NAME } from '../shell/found-paths.ts';
import { hasFlag, isHarmlessCall, parseArguments } from '../shell/options.ts';
import { findInput } from '../shell/output.ts';
import type { Command } from '../shell/syntax.ts';
import { listPatchOperations } from './patch-files.ts';

/**
 * The loss of a deletion, by its paths and not by the program that deletes: the root, a home or a system folder as a
 * whole; something outside of the working folder; a folder in it or all of it; a part of such a folder; a data file.
 */
export type Loss = 'whole' | 'outside' | 'tree' | 'file' | 'part';

const LOSSES: readonly Loss[] = ['whole', 'outside', 'tree', 'file', 'part'];

export const SEVERITY_OF_LOSS: Readonly<Record<Loss, Severity>> = {
  whole: 'critical',
  outside: 'high',
  tree: 'medium',
  file: 'medium',
  part: 'low',
};

/** Returns what a command that deletes its operands loses. */
export const findLosses: (command: Command) => ReadonlySet<Loss> = memoize((command: Command) => {
  if (isHarmlessCall(command) || isMisreadPath(command)) return new Set<Loss>();
  const recursive = isRecursive(command);
  const targets = getTargets(command);
  const losses = targets.map((path) => gradeDeletion(path, recursive));
  if (takesInput(command, targets)) losses.push(recursive ? 'outside' : 'part');
  // A script cannot answer for each file, but a system folder is lost with the first answers.
  const isAsked = hasFlag(command, '-i', '-I', '--interactive');
  return new Set(losses.filter((loss) => loss !== null && (loss === 'whole' || !isAsked)) as Loss[]);
});

/** Returns the worst loss of a search that deletes what it finds. */
export function findSearchLoss(command: Command): Loss | null {
  const found = resolvePaths(findSearchedPaths(command) ?? [], command.folder);
  const paths = found.map((path) => followLinks(command, path));
  const losses = paths.map((path) => gradeDeletion(path, false));
  return LOSSES.find((loss) => losses.includes(loss)) ?? null;
}

/** Programs that delete folders without a flag for it. */
const DELETES_TREES = /^(?:rimraf|del-cli)$/;

function isRecursive(command: Command): boolean {
  if (DELETES_TREES.test(command.name)) return true;
  const hasSwitch = command.words.some(({ text }) => /^(?:\/s|-rec\w*|-r)$/i.test(text));
  return hasSwitch || hasFlag(command, '-r', '-R', '--recursive');
}

/** Parameters of PowerShell whose value is not a path to delete. */
const VALUE_FLAG = /^-(?:ErrorAction|EA|Include|Exclude|Filter|ErrorVariable|Stream)$/i;
/** Programs of Windows. Their reading as a shell of another system at the top of a script has other paths. */
const WINDOWS_ONLY = /^(?:del|erase|rd|remove-item|ri)$/;

/** Returns whether a command is the second reading of one of Windows, whose backslashes are escapes. */
export function isMisreadPath({ name, dialect, depth }: Command): boolean {
  return WINDOWS_ONLY.test(name) && dialect === 'posix' && depth === 0;
}

/** Returns the paths that a command names, in the folder that the script entered. */
export function getTargets(command: Command): readonly string[] {
  const names = new Set(command.words.filter(({ is_name }) => is_name === true).map(({ text }) => text));
  const isWindows = command.dialect === 'windows';
  const values = new Set(
    command.words
      .filter((_, at) => VALUE_FLAG.test(command.words[at - 1]?.text ?? ''))
      .map(({ text }) => text),
  );
  if (command.name === 'apply_patch' || command.name === 'applypatch') return listPatchDeletions(command);
  const operands = parseArguments(command)
    .operands.filter((text) => text !== '' && !/^\/[sfqap]$/i.test(text) && !(isWindows && values.has(text)))
    .map((text) => (names.has(text) ? `./${text}` : isWindows ? text.replaceAll('\\', '/') : text));
  return resolvePaths(operands, command.folder).map((path) => followLinks(command, path));
}

function listPatchDeletions(command: Command): readonly string[] {
  const texts = [...findInput(command), ...command.words.map(({ text }) => text)];
  return texts.flatMap((text) =>
    listPatchOperations(text).flatMap(({ path, kind }) => (kind === 'delete' ? path : [])),
  );
}

/** `cd /tmp/a && rm -rf *` deletes files in `/tmp/a`. */
function resolvePaths(paths: readonly string[], folder: string | null): readonly string[] {
  if (folder === null) return paths;
  return paths.map((text) =>
    /^(?:[/~$]|\.\.|[a-z]:|\{\}|\$\(\))/i.test(text)
      ? text
      : `${folder === '/' ? '' : folder}/${text.replace(/^\.\//, '')}`,
  );
}

/** Returns whether the targets come from another command whose output is unknown: `xargs rm -rf`. */
function takesInput(command: Command, targets: readonly string[]): boolean {
  const isFed = command.within.some((name) => name === 'xargs' || name === 'find' || name === 'parallel');
  return isFed && (targets.length === 0 || targets.includes('{}'));
}

/** A pattern for everything below a folder, or for some names below it. */
const BELOW = /^(.*?)\/?\*\*(?:\/([^/]+))?$/s;
/** The last part of a pattern for all files of one folder. */
const ALL_FILES = /^(?:\.?\*(?:\.\*)?|\?\*|\.(?:\?\?|\[[!^]\.\])\*)$/;

/** Returns the loss when a path or a pattern is deleted, with all below it or files only. */
export function gradeDeletion(path: string, recursive: boolean): Loss | null {
  const [below, head = '', name] = BELOW.exec(path) ?? [];
  const folder = head === '' ? (path.startsWith('/') ? '/' : '.') : head;
  if (below !== undefined && (name === undefined || ALL_FILES.test(name))) return gradeTree(folder);
  if (below !== undefined) return gradeNames(folder, name!);
  if (recursive) return gradeTree(path);
  const slash = path.lastIndexOf('/');
  if (ALL_FILES.test(path.slice(slash + 1))) return gradeFiles(slash < 0 ? '.' : path.slice(0, slash) || '/');
  return isPrecious(path) && !isWholeSystemPath(path) ? 'file' : null;
}

/** Grades the deletion of a folder with all below it. */
function gradeTree(path: string): Loss | null {
  if (isWholeSystemPath(path)) return 'whole';
  if (isSpared(path)) return null;
  if (isOutside(path)) return 'outside';
  return (PART.test(path.replace(PRINTED_FOLDER, '')) && !isPrecious(path)) ||
    FILLED.test(path) ||
    MADE_AGAIN.test(path)
    ? 'part'
    : 'tree';
}

/** Grades the deletion of some names at any depth below a folder. */
function gradeNames(folder: string, name: string): Loss | null {
  if (isSpared(folder)) return null;
  const isMadeAgain = isRegenerable(name) && !name.endsWith('.log');
  if (isWholeSystemPath(folder)) return isMadeAgain ? 'file' : 'outside';
  if (isOutside(folder) || isPrecious(name)) return 'file';
  if (isMadeAgain) return null;
  // Names in the working folder are mostly in version control; any old file of it may be anything.
  return name === SOME_NAME && /^\.?$/.test(folder) ? 'tree' : 'part';
}

/** Grades the deletion of all files of a folder, without its folders. */
function gradeFiles(folder: string): Loss | null {
  if (isSpared(folder)) return null;
  if (isWholeSystemPath(folder) || isOutside(folder)) return 'outside';
  return /^(?:\.\/)?[\w@+]/.test(folder) ? 'part' : 'tree';
}

/** Returns whether a path is outside the working folder, and neither temporary nor made by tools. */
export function isOutside(path: string): boolean {
  return /^(?:[/~]|\.\.|[a-z]:)/i.test(normalizePath(path)) && !isTemporary(path) && !isRegenerable(path);
}

/** A part of a folder of the working one, written out; its name can have a `*` (`docs/*.html`). */
const PART =
  /^(?:\.\/)?(?:[\w@+][\w@.+-]*|\.(?!git|hg|svn|\.)[\w-][\w.-]*)(?:\/(?!\.(?:git|hg|svn|\.)(?:\/|$))[\w@.+-]+){0,10}\/(?!\.(?:git|hg|svn|\.)(?:\/|\*|$))(?:[\w@.+-]+\/?|\*?[\w@.+-]{2,}\*?|[\w@.+-]{2,}\*[\w@.+-]*)$/;
/** A folder that another command prints: `$(npm root)/` before a part of it. */
const PRINTED_FOLDER = /^\$\(\)\//;
/** Folders at the top that tools fill: packages of other projects, results of tests. */
const FILLED = /^(?:\.\/)?(?:vendor|\.bundle|_te?mp|test[_-]?results?|[\w-]{0,20}[_-]?cache)\/?$/;
/** A variable whose name says that a program makes the folder, and makes it again. */
const MADE_AGAIN =
  /^\$(?:\w*_)?(?:TE?MP|CACHE|BUILD|DIST|OUT|OUTPUT)(?:_?(?:DIR|FOLDER|PATH|ROOT))?(?:\/[\w.-]+)*$/i;
/** A file or folder in the working one whose name begins with a tilde. */
const TILDE_NAME = /^\.\/~/;

/** Returns whether a deletion of a path loses nothing: temporary files, and files that tools create again. */
export function isSpared(path: string): boolean {
  return isTemporary(path) || isRegenerable(path) || TILDE_NAME.test(path);
}

/** Returns whether a file is one of the system, a log, a key or data. */
export function isPrecious(path: string): boolean {
  if (isSpared(path) && !isLogPath(path)) return false;
  return (
    isLogPath(path) ||
    isCredentialPath(path) ||
    isSystemPath(path) ||
    /[\w*-]\.(?:db|sqlite3?|mdb|sql|dump|bak|backup|tfstate|vmdk|qcow2|ibd|parquet)$/.test(path)
  );
}
