import { memoize } from '../../memoize.ts';
import { listFindCalls } from '../shell/find-calls.ts';
import { hasFlag, joinWords, listOperands } from '../shell/options.ts';
import { findInput } from '../shell/output.ts';
import { type Command, getProgramName } from '../shell/syntax.ts';

/**
 * The use of a path by a command. `create` makes a folder. `format` is a program that rewrites files in its own style
 * without changing their meaning. `unknown` is a program that may read the file, and writes only on demand.
 */
export type PathUse = 'list' | 'read' | 'create' | 'format' | 'write' | 'remove' | 'unknown';

export interface PathAccess {
  readonly path: string;
  readonly use: PathUse;
}

/** Programs that show that a file exists, but not its content. */
const LISTERS = new Set(
  'ls ll dir tree du df stat file test [ [[ realpath readlink dirname basename cd pushd chdir set-location exists get-childitem gci'.split(
    ' ',
  ),
);
const READERS = new Set(
  'cat head tail less more bat nl grep egrep fgrep rg ag ack wc diff cmp comm sort uniq cut tr jq od xxd hexdump strings md5sum sha1sum sha256sum sha512sum b2sum cksum base64 awk gawk mawk sed yq zcat zless zgrep column get-content gc type select-string'.split(
    ' ',
  ),
);
/** Programs whose arguments are texts, not paths. */
const PRINTERS = new Set(
  'echo printf true false : export declare local readonly alias unalias write-output write-host logger notify-send'.split(
    ' ',
  ),
);
const WRITERS = new Set(
  'tee touch truncate chmod chown chgrp chattr setfacl patch ed ex vi vim nvim nano emacs pico sponge install split mkfifo mknod set-content add-content out-file new-item icacls attrib link symlink'.split(
    ' ',
  ),
);
const REMOVERS = new Set(
  'rm rmdir unlink shred srm trash trash-put gio del erase rd remove-item ri rename rename-item'.split(' '),
);
const COPIERS = new Set('cp scp rsync ln gcp copy copy-item xcopy robocopy ditto'.split(' '));
const MOVERS = new Set('mv move move-item gmv ren'.split(' '));
/** Flags and operands with which listers and readers write a file, or show the content of any file. */
const MORE_THAN_READS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    file: / -C /,
    git: / (?:-f|-F|--(?:contents|file|no-index|output))[ =]/,
    less: / (?:-[oO]|--log-file)[ =]?/i,
    tree: / -o /,
    uniq: / [^-\s]\S* [^-\s]\S* $/,
    xxd: / (?:-\w*r\w*|--revert) /,
  }),
);
const SEARCHERS = /^(?:[ef]?grep|rg|ag|ack|sed|g?awk|mawk|jq|yq|select-string)$/;
/** Flags with which linters and formatters rewrite their files. */
const FORMATS = /^(?:-w|--write|--fix)$/;
const EDITORS = /^(?:sed|gsed|g?awk|perl|ruby|yq|jq|sort|sd)$/;
/** Flags with which a program writes its input files. */
const IN_PLACE =
  /^(?:-i.*|-[a-zA-Z]{1,3}i|-w|--write|--fix|--in-?place(?:=.*)?|-o|-O|--output(?:-document)?(?:=.*)?|-OutFile|-Path)$/;
const EXCLUDES =
  /^--?(?:exclude|exclude-dir|ignore|ignore-dir|glob|iglob|g|include|name|iname|path|ipath|wholename|not-path)$/;
const GIT_LISTS =
  /^(?:status|check-ignore|ls-files|log|shortlog|blame|diff|show|grep|describe|commit|check-attr|rev-parse|rev-list|branch|tag|remote|fetch|config)$/;
const GIT_WRITES = /^(?:checkout|restore|rm|mv|apply|am|reset|clean|stash|switch)$/;
const PATH_UNITS_MAX = 1_024;

/** Returns the paths that a command names, with what it does to them. */
export const listPathAccesses: (command: Command) => readonly PathAccess[] = memoize((command) => [
  ...listRedirectionAccesses(command),
  ...listWordAccesses(command),
  ...listCodePaths(command),
  ...listPatchPaths(command),
]);

function listRedirectionAccesses({ redirections }: Command): readonly PathAccess[] {
  return redirections.flatMap(({ operator, target }): readonly PathAccess[] => {
    if (operator.startsWith('<<') || target.length > PATH_UNITS_MAX) return [];
    const writes = operator.includes('>') && !(operator === '>&' && /^[\d-]$/.test(target));
    return [{ path: target, use: writes ? 'write' : 'read' }];
  });
}

function listWordAccesses(command: Command): readonly PathAccess[] {
  const { name, code } = command;
  if (code !== null || PRINTERS.has(name)) return [];
  const words = listPathWords(command);
  if (COPIERS.has(name) || MOVERS.has(name)) return listCopyAccesses(command, words);
  const use = getPathUse(command);
  const named = [
    ...words.flatMap((word) => findWordPaths(word).map((path) => ({ path, use }))),
    ...(use === 'unknown' ? words.flatMap(listWordParts) : []),
    ...listScriptTargets(command),
  ];
  return name === 'find' ? [...named, ...listFoundPaths(command)] : named;
}

const FIND_NAMES = /^-(?:name|iname|path|ipath|wholename)$/;
const FIND_PARTS_MAX = 8;

/** Returns what `find` does with the files that it finds, as globs below its folders. */
function listFoundPaths(command: Command): readonly PathAccess[] {
  const { words } = command;
  const texts = words.map(({ text }) => text);
  const uses = new Set<PathUse>(texts.includes('-delete') ? ['write'] : []);
  for (const [first, ...rest] of listFindCalls(words))
    uses.add(getPathUse({ ...command, name: getProgramName(first!.text), words: rest }));
  // The program that receives the names may read the files.
  if (command.feeds_pipe === true || command.depth > 0) uses.add('read');
  if (uses.size === 0) return [];
  const tests = texts.findIndex((text) => /^[-(!]/.test(text));
  const roots = texts.slice(0, tests).slice(0, FIND_PARTS_MAX);
  const names = texts.filter((_, at) => at > 0 && FIND_NAMES.test(texts[at - 1]!)).slice(0, FIND_PARTS_MAX);
  const globs = (names.length === 0 ? ['*'] : names).flatMap((name) =>
    (roots.length === 0 ? ['.'] : roots).map((root) =>
      name.includes('/') ? name : `${root.replace(/\/$/, '')}/**/${name}`,
    ),
  );
  return [...uses].flatMap((use) => globs.map((path) => ({ path, use })));
}

/** Returns what a program does with its operands. */
function getPathUse(command: Command): PathUse {
  const { name, words } = command;
  if (/^(?:mkdir|md)$/.test(name)) return 'create';
  if (MORE_THAN_READS.get(name)?.test(joinWords(command))) return 'unknown';
  const inPlace = words.some(({ text }) => IN_PLACE.test(text));
  if (REMOVERS.has(name)) return 'remove';
  if (WRITERS.has(name)) return 'write';
  if (name === 'git') return getGitUse(findGitVerb(command));
  if (name === 'find' || name === 'fd') return getFindUse(command);
  if (LISTERS.has(name)) return 'list';
  if (READERS.has(name)) return inPlace && /^(?:sed|g?awk|yq|sort)$/.test(name) ? 'write' : 'read';
  if (name === 'dd') return 'write';
  if (/^(?:tar|bsdtar|unzip|7z|cpio)$/.test(name)) return extractsArchive(command) ? 'write' : 'unknown';
  if (!inPlace) return 'unknown';
  const onlyFormats = words.every(({ text }) => !IN_PLACE.test(text) || FORMATS.test(text));
  return onlyFormats && !EDITORS.test(name) ? 'format' : 'write';
}

/** Returns the sub-command of git, behind its own options with a value. */
function findGitVerb({ words }: Command): string {
  const texts = words.map(({ text }) => text);
  return texts.find((text, at) => !text.startsWith('-') && !/^-[cC]$/.test(texts[at - 1] ?? '')) ?? '';
}

function getGitUse(verb: string): PathUse {
  if (GIT_WRITES.test(verb)) return verb === 'rm' || verb === 'mv' || verb === 'clean' ? 'remove' : 'write';
  return GIT_LISTS.test(verb) ? 'list' : 'unknown';
}

function getFindUse(command: Command): PathUse {
  // Tests limit which files below the folder it deletes.
  if (hasFlag(command, '-delete')) return 'write';
  return hasFlag(
    command,
    '-exec',
    '-execdir',
    '-ok',
    '-okdir',
    '-fprint',
    '-fprint0',
    '-fprintf',
    '-fls',
    '-x',
    '-X',
  )
    ? 'unknown'
    : 'list';
}

function extractsArchive(command: Command): boolean {
  return command.name !== 'tar' && command.name !== 'bsdtar'
    ? true
    : /^-?[a-zA-Z]*x/.test(command.words[0]?.text ?? '') || hasFlag(command, '-x', '--extract');
}

/** Text that begins with words, or is a script. */
const PROSE = /^[^/\\]{0,1024}\s[^/\\]|[\n<>|]/;

/** Returns the words that can be paths, without search patterns and excluded names. */
function listPathWords({ name, words }: Command): readonly string[] {
  const texts = words.map(({ text }) => text);
  const pattern =
    SEARCHERS.test(name) && !texts.some((text) => /^(?:-e|-f|--regexp|--file|--files)$/.test(text));
  const first = pattern ? texts.findIndex((text) => !text.startsWith('-')) : -1;
  return texts.filter(
    (text, at) =>
      at !== first &&
      text.length <= PATH_UNITS_MAX &&
      !PROSE.test(text) &&
      !(at > 0 && EXCLUDES.test(texts[at - 1]!)) &&
      !/^--?(?:exclude|ignore|include|glob)[\w-]*=/.test(text),
  );
}

/** Returns a word itself, the value of `--output=x` and `of=x`, `@x`, and the file in `host:x`. */
function findWordPaths(word: string): readonly string[] {
  const value = /^(?:--?[\w-]+|[a-z]{1,8})=(.+)$/s.exec(word)?.[1] ?? /^@(.+)$/s.exec(word)?.[1];
  const remotePath = /^[\w.@-]{2,}:(?!\/\/)(.+)$/s.exec(word)?.[1];
  const attached = /^-[A-Za-z]([./~].+)$/s.exec(word)?.[1];
  return [word, value, remotePath, attached].filter((path): path is string => path !== undefined);
}

const WORD_PARTS_MAX = 8;

/** Returns the paths in `./a:/b` and `type=bind,source=a`, which mount folders or pair files. */
function listWordParts(word: string): readonly PathAccess[] {
  const parts = word.split(/[:,=]/, WORD_PARTS_MAX);
  return parts.length === 1 ? [] : parts.map((path) => ({ path, use: 'unknown' }));
}

/** Returns the files that scripts of sed and awk write: `w file`, `print > "file"`. */
function listScriptTargets({ name, words }: Command): readonly PathAccess[] {
  const target = /^g?sed$/.test(name)
    ? /(?:^|[\s;{}/gpIM\d])w\s*([^\s;}]{1,1024})/g
    : /^[gm]?awk$/.test(name)
      ? />\s*"([^"]{1,1024})"/g
      : null;
  if (target === null) return [];
  return words.flatMap(({ text }) =>
    [...text.slice(0, PATH_UNITS_MAX).matchAll(target)].map(([, path]) => ({ path: path!, use: 'write' })),
  );
}

/**
 * Returns the accesses of a copy: the last operand, or the value of `-t`, is written; the others are read,
 * and removed if they are moved.
 */
function listCopyAccesses(command: Command, words: readonly string[]): readonly PathAccess[] {
  const { name } = command;
  const operands = words.filter((word) => !word.startsWith('-'));
  const at = words.findIndex((word) => /^(?:-t|--target-directory|-Destination)$/i.test(word));
  const into = at >= 0 ? words[at + 1] : /^--target-directory=(.+)$/.exec(words.join('\n'))?.[1];
  const target = into ?? operands.at(-1);
  const sources = operands.filter((word) => word !== target);
  const use: PathUse = MOVERS.has(name) ? 'remove' : 'unknown';
  const removes = name === 'rsync' && hasFlag(command, '--remove-source-files');
  return [
    ...sources.flatMap((source) =>
      findWordPaths(source).map((path) => ({ path, use: removes ? 'remove' : use }) as const),
    ),
    ...(target === undefined ? [] : findWordPaths(target)).flatMap((path) => [
      { path, use: 'write' } as const,
      // The target may be a folder.
      ...sources.map((source) => ({ path: `${path}/${getBaseName(source)}`, use: 'write' }) as const),
    ]),
  ];
}

function getBaseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

const LITERAL = /(["'`])((?:(?!\1)[^\\\n]){1,400})\1/g;
const CODE_WRITES =
  /open\([^)]{0,400}["'](?:[rb]*[wax]|r\+)|write|remove|unlink|rename|rmtree|rmsync|replace\(|copy|dump|chmod|chown|truncate|move|symlink|mkdir|touch|-i\b|File\.delete|FileUtils/i;
const LITERALS_MAX = 200;

/** Returns the quoted texts in source code. */
function listCodePaths({ code }: Command): readonly PathAccess[] {
  if (code === null) return [];
  const use = CODE_WRITES.test(code) ? 'remove' : 'unknown';
  return [...code.matchAll(LITERAL)].slice(0, LITERALS_MAX).map(([, , path]) => ({ path: path!, use }));
}

/** Returns the files that a patch in the input changes. */
function listPatchPaths(command: Command): readonly PathAccess[] {
  const { name, words } = command;
  if (name !== 'patch' && name !== 'git' && !/^apply_?patch$/.test(name)) return [];
  return [...findInput(command), ...words.map(({ text }) => text)].flatMap(findPatchedFiles);
}

const PATCHED =
  /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to):|(?:\+\+\+|---)(?= )|rename (?:from|to))[ \t]+([^\t\r\n]{1,1024})/gm;
const PATCHED_MAX = 2_000;

/** Returns the files that a patch names, in the format of `diff` or `apply_patch`. */
export function findPatchedFiles(text: string): readonly PathAccess[] {
  if (!/^(?:\*\*\* |\+\+\+ |--- |rename )/m.test(text)) return [];
  return [...text.matchAll(PATCHED)]
    .slice(0, PATCHED_MAX)
    .map(([, path]) => ({ path: path!.trim().replace(/^[ab]\//, ''), use: 'remove' }) as const);
}

/** Programs with an option for the folder in which they work or run another program. */
const FOLDER_OPTIONS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    env: /^(?:-C|--chdir)(?:=?(.+))?$/,
    sudo: /^(?:-D|--chdir)(?:=?(.+))?$/,
    git: /^-C(.+)?$/,
    tar: /^(?:-C|--directory)(?:=?(.+))?$/,
    bsdtar: /^(?:-C|--directory)(?:=?(.+))?$/,
    make: /^(?:-C|--directory)(?:=?(.+))?$/,
    gmake: /^(?:-C|--directory)(?:=?(.+))?$/,
  }),
);

/** Returns the folder in which a command works by its options: `null` if it is not literal, `undefined` if none is named. */
export function findNamedFolder({ name, words }: Command): string | null | undefined {
  const option = FOLDER_OPTIONS.get(name);
  if (option === undefined) return undefined;
  const at = words.findIndex(({ text }) => option.test(text));
  if (at < 0) return undefined;
  const target = option.exec(words[at]!.text)![1] ?? words[at + 1]?.text;
  return target === undefined || NOT_LITERAL.test(target) ? null : target;
}

const NOT_LITERAL = /[$`*?]|^-$/;

/** Returns the folder that a command enters: `null` if it is not literal, `undefined` if it enters none. */
export function findEnteredFolder(command: Command): string | null | undefined {
  if (!/^(?:cd|pushd|chdir|set-location|sl)$/.test(command.name)) return undefined;
  const target = listOperands(command)[0];
  return target === undefined || /[$`*?]|^-$/.test(target) ? null : target;
}
