import { expandMarks, LIST_MARK } from './expansion.ts';
import { findLineEnd } from './nesting.ts';
import type { Redirection, ShellWord } from './syntax.ts';
import { addInnerScripts, assignVariable, readWord, type ShellCursor } from './words.ts';
import { spendWork, tryToSpend } from './work.ts';

/** A here-document whose body is not read yet. */
export interface HereDocument {
  readonly redirection: Redirection;
  readonly end: string;
  readonly is_literal: boolean;
  readonly is_indented: boolean;
}

const PATTERN_CLASS_UNITS_MAX = 60;

/** Skips `a|b)` in a `case`, which runs nothing. If it is not a pattern, it is read as a command. */
export function skipCasePattern(cursor: ShellCursor): void {
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
    else if (char === '[') cursor.at = findClassEnd(cursor.text, cursor.at);
    else {
      const before = cursor.at;
      const { text } = readWord(cursor);
      if (text === 'esac' || cursor.at === before) break;
    }
  }
  spendWork(cursor.work, cursor.at - from);
  cursor.at = from;
  cursor.inner.length = scripts;
}

/** Returns the end of a class such as `[=()]` in a pattern. */
function findClassEnd(text: string, from: number): number {
  const end = text.slice(from + 2, from + PATTERN_CLASS_UNITS_MAX).indexOf(']');
  return end < 0 ? from + 1 : from + 3 + end;
}

/** Reads the body as the command's input. If its delimiter is not quoted, the shell runs substitutions in it. */
export function readHereDocument(cursor: ShellCursor, document: HereDocument): void {
  const { text } = cursor;
  const from = cursor.at;
  let line = from;
  while (line < text.length) {
    const lineEnd = text.indexOf('\n', line);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const isEnd =
      end - line <= document.end.length + 64 &&
      (document.is_indented ? text.slice(line, end).trim() : text.slice(line, end).trimEnd()) ===
        document.end;
    if (isEnd) {
      document.redirection.target = text.slice(from, line);
      cursor.at = Math.min(text.length, end + 1);
      if (!document.is_literal) addInnerScripts(cursor, from, line);
      return;
    }
    line = end + 1;
  }
  document.redirection.target = text.slice(from);
  if (!document.is_literal) addInnerScripts(cursor, from, text.length);
  cursor.at = text.length;
}

/** Reads `(a b c)` after `name=` as a list. */
export function readArray(cursor: ShellCursor): string {
  const elements: string[] = [];
  cursor.at += 1;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== ')') {
    if (cursor.text[cursor.at] === '#') cursor.at = findLineEnd(cursor.text, cursor.at);
    const before = cursor.at;
    const { text } = readWord(cursor);
    if (cursor.at === before) cursor.at += 1;
    else elements.push(text.replace(/^\[[^\]]{1,40}\]=/, ''));
  }
  cursor.at += 1;
  return elements.join(LIST_MARK);
}

/**
 * Returns the words that one word expands to: an alias at the start of a command, `{rm,-rf,/}`, a list (`"$@"`), or
 * an unquoted variable (`x='rm -rf /'; $x`); `null` if it does not expand.
 */
export function splitWord(cursor: ShellCursor, word: ShellWord, isFirst: boolean): readonly string[] | null {
  const { is_quoted, text } = word;
  const alias = isFirst && !is_quoted ? cursor.variables.get(buildAliasKey(text)) : undefined;
  if (alias !== undefined && tryToSpend(cursor.work, alias.length)) return alias.trim().split(/\s+/);
  const { marked, is_splitting } = cursor;
  const words = marked === null ? null : expandMarks(marked, cursor.work);
  const blanks = is_splitting ? buildSeparatorPattern(cursor) : null;
  if (blanks === null || !blanks.test(text)) return words;
  return (words ?? [text]).flatMap((each) => each.split(blanks)).filter((each) => each !== '');
}

/** Returns the units at which an unquoted variable is split. */
function buildSeparatorPattern({ variables, work }: ShellCursor): RegExp {
  const ifs = variables.get('IFS');
  if (ifs === undefined || ifs.length > 8 || !tryToSpend(work, ifs.length)) return /\s+/;
  return new RegExp(`[${ifs.replace(/[\\\]^-]/g, '\\$&')}]+|\\s+`);
}

/** Aliases are kept with the variables, under names that no variable has. */
function buildAliasKey(name: string): string {
  return `alias ${name}`;
}

/** Applies `alias x='rm -rf'`: after it, `x /` is `rm -rf /`. */
export function applyAliases(variables: Map<string, string>, words: readonly ShellWord[]): void {
  for (const { text } of words) {
    const sign = text.indexOf('=');
    if (sign > 0) assignVariable(variables, buildAliasKey(text.slice(0, sign)), text.slice(sign + 1));
  }
}
