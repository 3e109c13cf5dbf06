import { findKnownFile } from './files.ts';
import type { Command } from './syntax.ts';

/** The scripts in a file of tasks that the same script wrote: `Makefile`, `justfile`, `package.json` and similar ones. */

interface TaskProgram {
  readonly programs: string;
  readonly files: readonly string[];
  readonly listScripts: (text: string) => readonly string[];
}

const LINES_MAX = 400;
const SCRIPTS_MAX = 64;

const TASK_PROGRAMS: readonly TaskProgram[] = [
  {
    programs: 'make gmake bmake remake',
    files: ['Makefile', 'makefile', 'GNUmakefile'],
    listScripts: findRecipes,
  },
  {
    programs: 'just',
    files: ['justfile', 'Justfile', '.justfile'],
    listScripts: (text) => matchLines(text, /^[ \t]{1,40}[@-]{0,2}(\S.*)$/),
  },
  {
    programs: 'task go-task mise',
    files: ['Taskfile.yml', 'Taskfile.yaml', 'mise.toml', '.mise.toml'],
    listScripts: (text) =>
      matchLines(text, /^[ \t]{0,40}(?:- |(?:- )?(?:cmds?|run):? ?=? ?)["']?(\S.*?)["']?$/),
  },
  {
    programs: 'npm npx pnpm yarn yarnpkg bun',
    files: ['package.json'],
    listScripts: listPackageScripts,
  },
];

const PROGRAMS: ReadonlyMap<string, TaskProgram> = new Map(
  TASK_PROGRAMS.flatMap((each) => each.programs.split(' ').map((name) => [name, each] as const)),
);

function matchLines(text: string, line: RegExp): readonly string[] {
  return text
    .split('\n', LINES_MAX)
    .flatMap((each) => (each.length > 1000 ? [] : (line.exec(each)?.[1] ?? [])))
    .slice(0, SCRIPTS_MAX);
}

const MAKE_VALUE =
  /\$\((?:\w+|(?:call|eval|wildcard|patsubst|subst|strip|filter|filter-out|sort|word|words|dir|notdir|basename|addsuffix|addprefix|foreach|if|or|and) [^()]{0,200})\)/g;

/** Returns the recipes of a makefile. Its `$(NAME)` are variables and calls of functions, and run nothing. */
export function findRecipes(makefile: string): readonly string[] {
  return makefile
    .split('\n', LINES_MAX)
    .flatMap((line) => /^(?:\t|[\w.-]+:[^;=]*;)[@-]*(.+)$/.exec(line)?.[1] ?? [])
    .map((recipe) => recipe.trim().replace(MAKE_VALUE, '$MAKE_VALUE').replaceAll('$$', '$'));
}

function listPackageScripts(text: string): readonly string[] {
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: unknown };
    return typeof scripts !== 'object' || scripts === null
      ? []
      : Object.values(scripts)
          .filter((value) => typeof value === 'string')
          .slice(0, SCRIPTS_MAX);
  } catch {
    return [];
  }
}

/** Returns the scripts of the tasks that a command can run, as far as the same script wrote them. */
export function findTaskScripts(command: Command): readonly string[] {
  const { name, words } = command;
  const program = PROGRAMS.get(name);
  if (program === undefined) return [];
  // `npm pkg set scripts.x='rm -rf a'` writes a script.
  const set = words.flatMap(({ text }) => /^scripts\.[\w:.-]{1,60}=(.{1,1000})$/s.exec(text)?.[1] ?? []);
  if (words[0]?.text === 'set-script' && words[2] !== undefined) set.push(words[2].text);
  if (command.files === null) return set;
  const at = words.findIndex(({ text }) => /^(?:-f|--file|--makefile|--justfile|--taskfile|-t)$/.test(text));
  const named = at < 0 ? [] : (words[at + 1]?.text ?? []);
  return [
    ...set,
    ...program.files.concat(named).flatMap((file) => {
      const text = findKnownFile(command, file)?.text ?? null;
      return text === null ? [] : program.listScripts(text);
    }),
  ];
}
