import type { Command, ShellWord } from './syntax.ts';

/**
 * The paths that a search lists, as patterns: `~/**` for everything below a folder, `./**` with a name for some of it.
 * `rm` on its results, `-exec rm`, `-delete` and a loop over them are then judged by the same paths.
 */

/** The most patterns of one search. */
const PATTERNS_MAX = 8;
/** Tests of `find` on names, and on other properties. */
const NAME_TEST = /^-(?:i?name|i?lname)$/;
const OTHER_TEST =
  /^-(?:[acm]time|[acm]min|newer\w*|used|size|empty|user|group|uid|gid|perm|nouser|nogroup|samefile|inum|links|i?regex|i?path|i?wholename|fstype|readable|writable|executable)$/;
/** A pattern that every name or path matches. */
const MATCHES_ALL = /^(?:\.\/)?[.*^$()?/]*\*[.*^$()?/]*$/;
/** Stands for a name if a test on age, size or another property decides. */
export const SOME_NAME = '*.found';

/** Returns the patterns of the paths that a command prints; `null` if it is no search. */
export function findSearchedPaths(command: Command): readonly string[] | null {
  const { name, words } = command;
  if (name === 'find' || name === 'gfind') return findByTests(words);
  if (name === 'fd' || name === 'fdfind') return findByPattern(words);
  const operands = words.map(({ text }) => text).filter((text) => !text.startsWith('-'));
  if (name === 'ls') return listNames(words);
  if (
    name !== 'git' ||
    operands[0] !== 'ls-files' ||
    words.some(({ text }) => /^(?:-d|--deleted)$/.test(text))
  )
    return null;
  return operands.length > 1 ? operands.slice(1, PATTERNS_MAX) : ['./**'];
}

/** `ls` prints the names in a folder, or the operands that a pattern gives. */
function listNames(words: readonly ShellWord[]): readonly string[] {
  const operands = words.filter(({ text }) => !text.startsWith('-'));
  if (operands.length === 0) return ['*'];
  return operands
    .slice(0, PATTERNS_MAX)
    .map(({ text, has_glob }) => (has_glob === true || /\.\w+$/.test(text) ? text : '*'));
}

function joinPath(place: string, rest: string): string {
  return `${place.endsWith('/') ? place.slice(0, -1) : place}/${rest}`;
}

function findByTests(words: readonly ShellWord[]): readonly string[] {
  const texts = words.map(({ text }) => text);
  const begin = texts.findIndex((text) => !/^-(?:[HLP]|O\d|D)$/.test(text));
  const first = texts.findIndex((text, at) => at >= begin && /^[-(!]/.test(text));
  const given = begin < 0 ? [] : texts.slice(begin, first < 0 ? texts.length : first);
  const places = given.length === 0 ? ['.'] : given.slice(0, PATTERNS_MAX);
  const tests = first < 0 ? [] : texts.slice(first);
  const depth = tests[tests.indexOf('-maxdepth') + 1];
  if (depth === '0' && tests.includes('-maxdepth')) return places;
  const isFlat = depth === '1' && tests.includes('-maxdepth');
  const names = findNames(tests);
  const rest = names.length === 0 ? ['**'] : names;
  const paths = places.flatMap((place) =>
    rest.flatMap((name) => {
      if (name === '**' || isFlat) return joinPath(place, name === '**' && isFlat ? '*' : name);
      const below = joinPath(place, `**/${name}`);
      return /^[\w@.-]+$/.test(name) ? [joinPath(place, name), below] : below;
    }),
  );
  return paths.slice(0, PATTERNS_MAX * 2);
}

/** Returns the names that match the tests; empty if every name does. */
function findNames(tests: readonly string[]): readonly string[] {
  const names: string[] = [];
  let narrowed = 0;
  let alternatives = 0;
  for (const [at, text] of tests.entries()) {
    if (/^-exec|^-ok|^-printf$/.test(text)) break;
    if (/^(?:-o|-or|,)$/.test(text)) alternatives += 1;
    if (/^(?:!|-not)$/.test(tests[at - 1] ?? '')) continue;
    const value = tests[at + 1] ?? '';
    if (NAME_TEST.test(text) && !MATCHES_ALL.test(value)) names.push(value);
    else if (OTHER_TEST.test(text) && !MATCHES_ALL.test(value)) narrowed += 1;
  }
  // In `-name a -prune -o -delete` the name says what is spared.
  if (alternatives >= Math.max(1, names.length + narrowed)) return [];
  if (narrowed > 0 && (names.length === 0 || alternatives >= names.length)) names.push(SOME_NAME);
  return names.slice(0, PATTERNS_MAX);
}

const FD_VALUE = /^-(?:[eEdtSoj]|-(?:extension|exclude|max-depth|type|size|owner|changed-\w+|threads))$/;

/** `fd pattern place`: the pattern is a regular expression. */
function findByPattern(words: readonly ShellWord[]): readonly string[] {
  const texts = words.map(({ text }) => text);
  const end = texts.findIndex((text) => /^(?:-[xX]|--exec|--exec-batch)$/.test(text));
  const own = end < 0 ? texts : texts.slice(0, end);
  const operands = own.filter((text, at) => !text.startsWith('-') && !FD_VALUE.test(own[at - 1] ?? ''));
  const extensions = own.filter((_, at) => /^(?:-e|--extension)$/.test(own[at - 1] ?? ''));
  const [pattern = '.', ...places] = operands;
  const isAll = extensions.length === 0 && (pattern === '.' || pattern === '' || MATCHES_ALL.test(pattern));
  const names =
    extensions.length > 0 ? extensions.map((each) => `**/*.${each}`) : [isAll ? '**' : `**/${SOME_NAME}`];
  return (places.length === 0 ? ['.'] : places)
    .slice(0, PATTERNS_MAX)
    .flatMap((place) => names.map((name) => joinPath(place, name)))
    .slice(0, PATTERNS_MAX * 2);
}
