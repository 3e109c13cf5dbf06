import { withFullOptions } from './long-options.ts';
import { type Command, type Dialect, nameOf, type Script, type Word } from './syntax.ts';

/** The command that some words are, in the place of the one around it. */
export function commandOf(around: Command, words: readonly Word[], wrapper: string): Command | null {
  const first = words[0];
  if (first === undefined) return null;
  const name = nameOf(first.text);
  return {
    ...inner(around, wrapper),
    name,
    program: first.text,
    words: withFullOptions(name, words.slice(1)),
  };
}

/** A command in the place of another one, one level deeper. */
export function inner(around: Command, wrapper: string): Command {
  return {
    ...around,
    assignments: [],
    depth: around.depth + 1,
    within: [...around.within, wrapper],
    code: null,
    is_function: false,
  };
}

/** The script's place is that of the whole command: what was quoted has other offsets. */
export function scriptOfText(around: Command, text: string, dialect: Dialect): Script {
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

/** A word as it would have to be written. */
export function quoted({ text }: Word): string {
  return /^[\w@%+=:,./~*$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
