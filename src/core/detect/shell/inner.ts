import { expandLongOptions } from './long-options.ts';
import {
  type Command,
  getProgramName,
  type ShellDialect,
  type ShellScript,
  type ShellWord,
} from './syntax.ts';
import { getPackageProgram } from './wrappers.ts';

/** Builds the command of some words, at the position of the command around it. */
export function buildInnerCommand(
  around: Command,
  words: readonly ShellWord[],
  wrapper: string,
): Command | null {
  const first = words[0];
  if (first === undefined) return null;
  const program = getPackageProgram(wrapper, first.text);
  const name = getProgramName(program);
  return {
    ...deriveInner(around, wrapper),
    name,
    program,
    words: expandLongOptions(name, words.slice(1)),
  };
}

/** Derives a command at another one's position, one level deeper and in its environment. */
export function deriveInner(around: Command, wrapper: string): Command {
  return {
    ...around,
    depth: around.depth + 1,
    within: [...around.within, wrapper],
    code: null,
    is_function: false,
  };
}

/** Builds a script with the span of the whole command, because quoted text has other offsets. */
export function buildInnerScript(around: Command, text: string, dialect: ShellDialect): ShellScript {
  const { start, end, depth, within, name } = around;
  return {
    text,
    place: { start, end },
    depth: depth + 1,
    within: [...within, name],
    previous: around.previous,
    dialect,
  };
}

/** Returns a word quoted for a shell. */
export function quoteWord({ text }: ShellWord): string {
  return /^[\w@%+=:,./~*$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
