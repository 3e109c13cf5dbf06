import { expandLongOptions } from './long-options.ts';
import type { HereDocument } from './pieces.ts';
import {
  type Command,
  getProgramName,
  type Redirection,
  type ShellScript,
  type ShellWord,
} from './syntax.ts';
import type { ShellCursor } from './words.ts';
import { spendWork } from './work.ts';
import { SHELLS } from './wrappers.ts';

/** Receives each command when it is complete, with the scripts in its words. */
export type CommandSink = (command: Command, inner: readonly ShellScript[]) => void;

/** A command whose here-document is not read yet, or a later command in the same line. */
interface PendingCommand {
  readonly command: Command;
  readonly inner: readonly ShellScript[];
}

/** The state of parsing one script. */
export interface Parser {
  readonly script: ShellScript;
  readonly cursor: ShellCursor;
  readonly sink: CommandSink;
  /** Bodies of the functions that are known so far. */
  readonly functions: Map<string, string>;
  readonly here_documents: HereDocument[];
  readonly pending: PendingCommand[];
  /** Open braces: the function whose body they contain, and where the body begins. */
  readonly blocks: { readonly name: string | null; readonly from: number }[];
  /** The function whose body follows. */
  defined: string | null;
  /** The number of open `case` statements, and whether a pattern of the innermost follows. */
  cases: number;
  is_pattern_next: boolean;
  /** True between `[[` and `]]`, where operators compare. */
  is_test: boolean;
  /** True if the word `function` precedes. */
  is_name_next: boolean;
  /** The current command. */
  words: ShellWord[];
  assignments: { name: string; value: string }[];
  redirections: Redirection[];
  start: number;
  end: number;
  /** The number of scripts inside words that already belong to a command. */
  owned: number;
  /** The command whose output the next command reads. */
  previous: Command | null;
  last: Command | null;
}

/** The work of a command, in addition to its units. */
const COMMAND_WORK = 8;

/** Begins a command, unless one has begun. */
export function beginCommand(parser: Parser, from: number): void {
  if (parser.start < 0) parser.start = from;
}

/** Ends the current command, if there is one. */
export function finishCommand(parser: Parser, feedsPipe = false): void {
  const { words, assignments, redirections, script, cursor } = parser;
  if (words.length + assignments.length + redirections.length > 0) {
    const program = words[0]?.text ?? '';
    const { start, end } = getSpan(script, parser.start, Math.min(parser.end, script.text.length));
    const command: Command = {
      name: getProgramName(program),
      program,
      words: expandLongOptions(getProgramName(program), words.slice(1)),
      assignments,
      redirections,
      start,
      end,
      previous: parser.previous,
      feeds_pipe: feedsPipe,
      depth: script.depth,
      within: script.within,
      code: null,
      dialect: script.dialect,
      is_function: parser.functions.has(program),
      sources: [],
      files: null,
      folder: null,
    };
    spendWork(cursor.work, COMMAND_WORK);
    parser.last = command;
    // A program named by a substitution runs what the substitution prints, as a shell does.
    const isRun =
      program.includes('$()') || words.slice(0, 6).some(({ text }) => RUNNERS.has(getProgramName(text)));
    parser.pending.push({ command, inner: takeInnerScripts(parser, isRun, command) });
    if (parser.here_documents.length === 0) flushPending(parser);
  }
  parser.words = [];
  parser.assignments = [];
  parser.redirections = [];
  parser.start = -1;
  parser.is_test = false;
}

/** Emits the commands that were pending because of a here-document. */
export function flushPending(parser: Parser): void {
  for (const { command, inner } of parser.pending.splice(0)) parser.sink(command, inner);
}

/** Returns the span in the original text of units of a script. */
function getSpan({ place }: ShellScript, start: number, end: number): { start: number; end: number } {
  return 'offset' in place ? { start: place.offset + start, end: place.offset + end } : place;
}

/** Programs that run what a substitution in their words prints. */
const RUNNERS = new Set([
  ...SHELLS,
  'eval',
  'source',
  '.',
  'iex',
  'invoke-expression',
  'python',
  'python3',
  'perl',
  'ruby',
  'node',
  'php',
  'deno',
  'bun',
  'go',
]);

/** Returns the scripts inside the words of a command just read; `isRun` says whether their output runs. */
export function takeInnerScripts(
  parser: Parser,
  isRun: boolean,
  around: Command | null,
): readonly ShellScript[] {
  const { script, cursor } = parser;
  const inner = cursor.inner.slice(parser.owned).map(
    ({ from, to, is_fed }): ShellScript => ({
      ...script,
      text: cursor.text.slice(from, to),
      place: 'offset' in script.place ? { offset: script.place.offset + from } : script.place,
      depth: script.depth + 1,
      within: [...script.within, isRun ? '$(eval)' : '$()'],
      previous: is_fed === true ? around : null,
    }),
  );
  parser.owned = cursor.inner.length;
  return inner;
}
