import { expandMarks, LIST } from './expansion.ts';
import { lineEnd } from './nesting.ts';
import type { Redirection, Word } from './syntax.ts';
import { assign, type Cursor, pushInner, readWord } from './words.ts';
import { afford, spend } from './work.ts';

/** A here-document whose body is still to come. */
export interface HereDocument {
  readonly redirection: Redirection;
  readonly end: string;
  readonly is_literal: boolean;
  readonly is_indented: boolean;
}

const PATTERN_CLASS_UNITS_MAX = 60;

/** `a|b)` in a `case`: names nothing that runs. Where it is no pattern after all, it is read as a command. */
export function readPattern(cursor: Cursor): void {
  const from = cursor.at;
  const scripts = cursor.inner.length;
  if (cursor.text[cursor.at] === '(') cursor.at += 1;
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at]!;
    if (char === ')') {
      cursor.at += 1;
      return;
    }
    if (char === ' ' || char === '\t' || char === '|') cursor.at += 1;
    else if (char === '[') cursor.at = classEnd(cursor.text, cursor.at);
    else {
      const before = cursor.at;
      const { text } = readWord(cursor);
      if (text === 'esac' || cursor.at === before) break;
    }
  }
  spend(cursor.work, cursor.at - from);
  cursor.at = from;
  cursor.inner.length = scripts;
}

/** `[=()]` in a pattern. */
function classEnd(text: string, from: number): number {
  const end = text.slice(from + 2, from + PATTERN_CLASS_UNITS_MAX).indexOf(']');
  return end < 0 ? from + 1 : from + 3 + end;
}

/** The body is what the command reads; where its end was not quoted, the shell runs the substitutions in it. */
export function readHereDocument(cursor: Cursor, document: HereDocument): void {
  const { text } = cursor;
  const from = cursor.at;
  let line = from;
  while (line < text.length) {
    const line_end = text.indexOf('\n', line);
    const end = line_end < 0 ? text.length : line_end;
    const is_end =
      end - line <= document.end.length + 64 &&
      (document.is_indented ? text.slice(line, end).trim() : text.slice(line, end).trimEnd()) ===
        document.end;
    if (is_end) {
      document.redirection.target = text.slice(from, line);
      cursor.at = Math.min(text.length, end + 1);
      if (!document.is_literal) pushInner(cursor, from, line);
      return;
    }
    line = end + 1;
  }
  document.redirection.target = text.slice(from);
  if (!document.is_literal) pushInner(cursor, from, text.length);
  cursor.at = text.length;
}

/** `(a b c)` behind `name=`: the elements as a list. */
export function readArray(cursor: Cursor): string {
  const elements: string[] = [];
  cursor.at += 1;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== ')') {
    if (cursor.text[cursor.at] === '#') cursor.at = lineEnd(cursor.text, cursor.at);
    const before = cursor.at;
    const { text } = readWord(cursor);
    if (cursor.at === before) cursor.at += 1;
    else elements.push(text.replace(/^\[[^\]]{1,40}\]=/, ''));
  }
  cursor.at += 1;
  return elements.join(LIST);
}

/**
 * The words that one word stands for: an alias where a command begins, `{rm,-rf,/}`, a list (`"$@"`), or what a variable
 * without quotes holds (`x='rm -rf /'; $x`); `null` where it stands for itself.
 */
export function splitWord(cursor: Cursor, word: Word, is_first: boolean): readonly string[] | null {
  const { is_quoted, text } = word;
  const alias = is_first && !is_quoted ? cursor.variables.get(aliasKey(text)) : undefined;
  if (alias !== undefined && afford(cursor.work, alias.length)) return alias.trim().split(/\s+/);
  const { marked, is_splitting } = cursor;
  const words = marked === null ? null : expandMarks(marked, cursor.work);
  const blanks = is_splitting ? separators(cursor) : null;
  if (blanks === null || !blanks.test(text)) return words;
  return (words ?? [text]).flatMap((each) => each.split(blanks)).filter((each) => each !== '');
}

/** At what units a variable without quotes is split. */
function separators({ variables, work }: Cursor): RegExp {
  const ifs = variables.get('IFS');
  if (ifs === undefined || ifs.length > 8 || !afford(work, ifs.length)) return /\s+/;
  return new RegExp(`[${ifs.replace(/[\\\]^-]/g, '\\$&')}]+|\\s+`);
}

/** Aliases stand among the variables, under names that no variable has. */
function aliasKey(name: string): string {
  return `alias ${name}`;
}

/** `alias x='rm -rf'`: from now on `x /` is `rm -rf /`. */
export function noteAliases(variables: Map<string, string>, words: readonly Word[]): void {
  for (const { text } of words) {
    const sign = text.indexOf('=');
    if (sign > 0) assign(variables, aliasKey(text.slice(0, sign)), text.slice(sign + 1));
  }
}
