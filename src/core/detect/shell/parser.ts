import { withFullOptions } from './long-options.ts';
import type { HereDocument } from './pieces.ts';
import { type Command, nameOf, type Redirection, type Script, type Word } from './syntax.ts';
import type { Cursor } from './words.ts';
import { spend } from './work.ts';
import { SHELLS } from './wrappers.ts';

/** Gets each command as soon as all of it is read, with the scripts that stand in its words. */
export type Sink = (command: Command, inner: readonly Script[]) => void;

/** A command whose here-document is still to come, or one behind it in the same line. */
interface Waiting {
  readonly command: Command;
  readonly inner: readonly Script[];
}

/** What reading one script has come to. */
export interface Parser {
  readonly script: Script;
  readonly cursor: Cursor;
  readonly sink: Sink;
  /** Functions that the whole reading knows, with their bodies. */
  readonly functions: Map<string, string>;
  readonly here_documents: HereDocument[];
  readonly waiting: Waiting[];
  /** Braces that are open: the function whose body they hold, and where it begins. */
  readonly blocks: { readonly name: string | null; readonly from: number }[];
  /** The function whose body comes next. */
  defined: string | null;
  /** How many `case` are open, and whether the next thing is a pattern of the innermost. */
  cases: number;
  is_pattern_next: boolean;
  /** Between `[[` and `]]`, where the signs of operators compare. */
  is_test: boolean;
  /** Behind the word `function`. */
  is_name_next: boolean;
  /** The command that is being read. */
  words: Word[];
  assignments: { name: string; value: string }[];
  redirections: Redirection[];
  start: number;
  end: number;
  /** How many of the scripts inside words have an owner: the command that they stand in. */
  owned: number;
  /** The command whose output the next one reads. */
  previous: Command | null;
  last: Command | null;
}

/** What a command costs besides its units. */
const COMMAND_WORK = 8;

/** Begins a command, where none is begun. */
export function begin(parser: Parser, from: number): void {
  if (parser.start < 0) parser.start = from;
}

/** Ends the command that is being read, where there is one. */
export function finish(parser: Parser, feeds_pipe = false): void {
  const { words, assignments, redirections, script, cursor } = parser;
  if (words.length + assignments.length + redirections.length > 0) {
    const program = words[0]?.text ?? '';
    const { start, end } = placeOf(script, parser.start, Math.min(parser.end, script.text.length));
    const command: Command = {
      name: nameOf(program),
      program,
      words: withFullOptions(nameOf(program), words.slice(1)),
      assignments,
      redirections,
      start,
      end,
      previous: parser.previous,
      feeds_pipe,
      depth: script.depth,
      within: script.within,
      code: null,
      is_function: parser.functions.has(program),
      files: null,
      folder: null,
    };
    spend(cursor.work, COMMAND_WORK);
    parser.last = command;
    // A program that is made by a substitution is run as much as what a shell is given.
    const is_run = program.includes('$()') || words.slice(0, 6).some(({ text }) => RUNNERS.has(nameOf(text)));
    parser.waiting.push({ command, inner: takeInner(parser, is_run) });
    if (parser.here_documents.length === 0) flush(parser);
  }
  parser.words = [];
  parser.assignments = [];
  parser.redirections = [];
  parser.start = -1;
  parser.is_test = false;
}

/** Gives away the commands that waited for a here-document. */
export function flush(parser: Parser): void {
  for (const { command, inner } of parser.waiting.splice(0)) parser.sink(command, inner);
}

/** Where units of a script stand in the first text. */
function placeOf({ place }: Script, start: number, end: number): { start: number; end: number } {
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
]);

/** The scripts inside the words that were just read; `is_run` says whether what they print is run. */
export function takeInner(parser: Parser, is_run: boolean): readonly Script[] {
  const { script, cursor } = parser;
  const inner = cursor.inner.slice(parser.owned).map(
    ({ from, to }): Script => ({
      ...script,
      text: cursor.text.slice(from, to),
      place: 'offset' in script.place ? { offset: script.place.offset + from } : script.place,
      depth: script.depth + 1,
      within: [...script.within, is_run ? '$(eval)' : '$()'],
      previous: null,
    }),
  );
  parser.owned = cursor.inner.length;
  return inner;
}
