import {
  CHOICE_END,
  CHOICE_SEPARATOR,
  CHOICE_START,
  hasMarks,
  LIST_MARK,
  modifyValue,
  readRange,
  removeMarks,
  startsChoice,
} from './expansion.ts';
import { findClosingBacktick, findClosingBrace, findClosingParen, findClosingQuote } from './nesting.ts';
import { decodeCEscapes } from './output.ts';
import { SHELL_LIMITS, type ShellDialect, type ShellWord } from './syntax.ts';
import { spendWork, tryToSpend, type WorkBudget } from './work.ts';

/** A script inside a word: `$(...)`, backticks, `<(...)`. */
export interface InnerScript {
  readonly from: number;
  readonly to: number;
  /** True for `>(...)`, which reads what the command around it prints. */
  readonly is_fed?: boolean;
}

/** The position in one script. */
export interface ShellCursor {
  readonly text: string;
  readonly dialect: ShellDialect;
  at: number;
  /** Scripts inside the words read so far. */
  readonly inner: InnerScript[];
  readonly variables: Map<string, string>;
  readonly work: WorkBudget;
  /** True if the word that was read last holds a variable that is split at its blanks. */
  is_splitting: boolean;
  /** The last word with the marks of lists and choices; `null` if it has none. */
  marked: string | null;
  /** Returns what a script prints; `null` if unknown. */
  readonly evaluate: (script: string) => string | null;
}

/** Units that end an unquoted word. */
const ENDS_POSIX = new Set(' \t\r\n;|&()<>');
const ENDS_WINDOWS = new Set(' \t\r\n;|&(){}<>,');

/**
 * Reads one word at the cursor and moves the cursor after it. The word can be empty: `""`. Every unit is read once; a
 * substitution becomes a script of its own.
 */
export function readWord(cursor: ShellCursor): ShellWord {
  const ends = cursor.dialect === 'posix' ? ENDS_POSIX : ENDS_WINDOWS;
  let text = '';
  let isQuoted = false;
  let hasGlob = false;
  let choices = 0;
  const from = cursor.at;
  cursor.is_splitting = false;
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at]!;
    if (ends.has(char)) break;
    if (char === '*' || char === '?' || char === '[') hasGlob = true;
    else if (cursor.dialect === 'posix' && (char === '{' || choices > 0)) {
      const mark = readChoice(cursor, char, choices);
      if (mark !== null) {
        choices += mark === CHOICE_START ? 1 : mark === CHOICE_END ? -1 : 0;
        text += mark;
        continue;
      }
    }
    if (char === '$' && isSpacer(cursor)) {
      // `$IFS` between letters acts as a blank.
      if (text !== '') break;
      continue;
    }
    if (char === '"' || char === "'") isQuoted = true;
    text += readPiece(cursor, char);
  }
  cursor.marked = hasMarks(text) ? text : null;
  const plain = removeMarks(text);
  if (plain.startsWith('~') && /^(?:\\|["'])~/.test(cursor.text.slice(from, from + 2)))
    return { text: plain, is_quoted: isQuoted, is_name: true };
  if (isQuoted && isOneQuotation(cursor.text, from, cursor.at))
    return { text: plain, is_quoted: isQuoted, is_literal: true };
  return hasGlob
    ? { text: plain, is_quoted: isQuoted, has_glob: hasGlob }
    : { text: plain, is_quoted: isQuoted };
}

/** Reads `{a,b}` outside of quotes, unit by unit: its mark, or `null` if the unit is not a mark. */
function readChoice(cursor: ShellCursor, char: string, open: number): string | null {
  const { text, at } = cursor;
  if (char === '{') {
    const range = readRange(text, at);
    if (range === null && !startsChoice(text, at)) return null;
    cursor.at = range === null ? at + 1 : range.end;
    return range === null
      ? CHOICE_START
      : `${CHOICE_START}${range.values.join(CHOICE_SEPARATOR)}${CHOICE_END}`;
  }
  if (open === 0 || (char !== ',' && char !== '}')) return null;
  cursor.at += 1;
  return char === ',' ? CHOICE_SEPARATOR : CHOICE_END;
}

/** Returns whether single quotes begin and end it, and there are no others in it. */
function isOneQuotation(text: string, from: number, to: number): boolean {
  return text[from] === "'" && text.indexOf("'", from + 1) === to - 1;
}

/** Skips `$IFS`, `${IFS}` and `$IFS$9`; returns whether one was there. */
function isSpacer(cursor: ShellCursor): boolean {
  const spacer = /\$(?:\{IFS[^}]{0,20}\}|IFS(?![A-Za-z0-9_]))(?:\$\d|\$\(\))?/y;
  spacer.lastIndex = cursor.at;
  if (!spacer.test(cursor.text)) return false;
  cursor.at = spacer.lastIndex;
  return true;
}

function readPiece(cursor: ShellCursor, char: string): string {
  if (char === "'") return readSingle(cursor, cursor.at + 1);
  if (char === '"') return readDouble(cursor);
  if (char === '$') return readDollar(cursor, false);
  if (cursor.dialect === 'windows') return readWindows(cursor, char);
  if (char === '\\') return readEscape(cursor);
  if (char === '`') return readBacktick(cursor, false);
  cursor.at += 1;
  return char;
}

/** Reads an escape of Windows: the backtick in PowerShell, the caret in `cmd`. */
function readWindows(cursor: ShellCursor, char: string): string {
  const isEscape = char === '`' || char === '^';
  cursor.at += isEscape ? 2 : 1;
  if (!isEscape) return char;
  const escaped = cursor.text[cursor.at - 1] ?? '';
  return escaped === '\n' || escaped === '\r' ? '' : escaped;
}

function readEscape(cursor: ShellCursor): string {
  const escaped = cursor.text[cursor.at + 1] ?? '';
  cursor.at += 2;
  return escaped === '\n' ? '' : escaped;
}

function readSingle(cursor: ShellCursor, from: number): string {
  const end = findClosingQuote(cursor.text, from, "'");
  cursor.at = end + 1;
  return cursor.text.slice(from, end);
}

function readBacktick(cursor: ShellCursor, isQuoted: boolean): string {
  const end = findClosingBacktick(cursor.text, cursor.at + 1);
  spendWork(cursor.work, end - cursor.at);
  const from = cursor.at + 1;
  cursor.inner.push({ from, to: end });
  cursor.at = end + 1;
  return readOutput(cursor, from, end, isQuoted);
}

function readDouble(cursor: ShellCursor): string {
  let text = '';
  cursor.at += 1;
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at]!;
    if (char === '"') {
      cursor.at += 1;
      break;
    }
    if (char === '$') text += readDollar(cursor, true);
    else if (cursor.dialect === 'posix' && char === '`') text += readBacktick(cursor, true);
    else if (cursor.dialect === 'posix' && char === '\\') text += readQuotedEscape(cursor);
    else {
      text += char;
      cursor.at += 1;
    }
  }
  return text;
}

/**
 * Reads a backslash between double quotes, where it escapes only few units and is literal before the others.
 */
function readQuotedEscape(cursor: ShellCursor): string {
  const escaped = cursor.text[cursor.at + 1] ?? '';
  cursor.at += 2;
  if (escaped === '\n') return '';
  return '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
}

function readDollar(cursor: ShellCursor, isQuoted: boolean): string {
  const { text, at } = cursor;
  const next = text[at + 1];
  if (next === '(') return readSubstitution(cursor, isQuoted);
  if (next === "'" && !isQuoted && cursor.dialect === 'posix') return readAnsi(cursor);
  if (next === '"' && !isQuoted) {
    cursor.at += 1;
    return '';
  }
  if (next === '{') return readBraced(cursor, isQuoted);
  const name =
    cursor.dialect === 'posix' ? /[A-Za-z_]\w{0,80}|[0-9@*#?$!-]/y : /[A-Za-z_][\w:]{0,80}|[0-9@*#?$!-]/y;
  name.lastIndex = at + 1;
  const found = name.exec(text);
  cursor.at = found === null ? at + 1 : name.lastIndex;
  if (!isQuoted) cursor.is_splitting = true;
  return found === null ? '$' : fillVariable(cursor, found[0]);
}

function readSubstitution(cursor: ShellCursor, isQuoted: boolean): string {
  const { text, at, dialect } = cursor;
  const isArithmetic = text[at + 2] === '(';
  const end = findClosingParen(text, at + 2, dialect === 'posix');
  spendWork(cursor.work, end - at);
  cursor.at = end + 1;
  if (isArithmetic && text[end - 1] === ')') {
    addInnerScripts(cursor, at + 3, end - 1);
    return '0';
  }
  // A name in capitals is a variable of a makefile; no program is named so.
  if (/^[A-Z][A-Z0-9_]{1,40}$/.test(text.slice(at + 2, Math.min(end, at + 50))))
    return `$${text.slice(at + 2, end)}`;
  cursor.inner.push({ from: at + 2, to: end });
  return readOutput(cursor, at + 2, end, isQuoted);
}

/** The most UTF-16 units of a substitution whose output is computed. */
const EVALUATED_UNITS_MAX = 400;
/** First programs of scripts whose output can be computed. */
const PRINTS =
  /^\s*(?:echo|printf|cat|find|fd|ls|git ls-files|mktemp|pwd|python3?|node|perl|ruby|php|awk|which|command|type|tr|rev|base64|xxd|basename|tee|head|tail|sed|openssl|ssh-agent|direnv|dircolors|brew|starship|pyenv|rbenv|nodenv|goenv|jenv|fnm|zoxide|opam|mise|conda|thefuck|keychain|lesspipe|luarocks|atuin|fzf|minikube|<|[\w./-]*\/echo)(?:[\s<]|$)/;

/** Returns what a substitution prints, `$()` if unknown. Without quotes it is split at blanks. */
function readOutput(cursor: ShellCursor, from: number, to: number, isQuoted: boolean): string {
  if (to - from > EVALUATED_UNITS_MAX) return '$()';
  const script = cursor.text.slice(from, to);
  if (script.trim() === '') return '';
  const output = PRINTS.test(script) ? cursor.evaluate(script) : null;
  if (output === null || hasMarks(output) || !tryToSpend(cursor.work, output.length)) return '$()';
  if (!isQuoted) cursor.is_splitting = true;
  return output.replace(/\n+$/, '');
}

/** Adds the scripts in a text in which only substitutions count: arithmetic, or the body of a here-document. */
export function addInnerScripts(cursor: ShellCursor, from: number, to: number): void {
  const { text, dialect } = cursor;
  spendWork(cursor.work, 2 * (to - from));
  for (let at = from; at < to; at++) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '`' && dialect === 'posix') {
      const end = findClosingBacktick(text, at + 1, to);
      cursor.inner.push({ from: at + 1, to: end });
      at = end;
    } else if (char === '$' && text[at + 1] === '(' && text[at + 2] !== '(') {
      const end = findClosingParen(text, at + 2, true, to);
      cursor.inner.push({ from: at + 2, to: end });
      at = end;
    }
  }
}

/** Reads `$'r\x6d'`, with the escapes of C. */
function readAnsi(cursor: ShellCursor): string {
  const { text } = cursor;
  const from = cursor.at + 2;
  let end = from;
  while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1;
  cursor.at = Math.min(text.length, end + 1);
  return decodeCEscapes(text.slice(from, end));
}

/** The most UTF-16 units before the `}` of `${`. */
const BRACED_UNITS_MAX = 1000;

/**
 * Reads `${NAME}`, `${NAME:-word}` or `${#NAME}`. The default word is used if the variable is unknown. Scripts in the
 * word run.
 */
function readBraced(cursor: ShellCursor, isQuoted: boolean): string {
  const from = cursor.at + 2;
  const to = Math.min(cursor.text.length, from + BRACED_UNITS_MAX);
  const isLookedAt = cursor.work.left >= 0;
  const end = isLookedAt ? findClosingBrace(cursor.text, from, to) : -1;
  if (isLookedAt) spendWork(cursor.work, (end < 0 ? to : end) - from);
  if (end < 0) {
    cursor.at = from;
    return '$';
  }
  const inside = cursor.text.slice(from, end);
  cursor.at = end + 1;
  if (/[$`]/.test(inside)) addInnerScripts(cursor, from, end);
  const found = BRACED.exec(inside);
  if (found === null) return '$';
  const [{ length }, isIndirect, name, index] = found;
  if (!isQuoted || index === '@') cursor.is_splitting = true;
  return expandVariable(cursor, isIndirect === '!', name!, index, inside.slice(length));
}

const BRACED = /^(!?)([A-Za-z_][A-Za-z0-9_]*|\d{1,3}|[@*])(?:\[([^\]]{0,40})\])?/;
/** Variables of every shell whose value begins with `/`. */
const BEGINS_WITH_SLASH = /^(?:HOME|PATH|PWD|OLDPWD|SHELL)$/;

/** Returns the value of `${name}` with its modification. */
function expandVariable(
  cursor: ShellCursor,
  isIndirect: boolean,
  named: string,
  index: string | undefined,
  how: string,
): string {
  const pointed = isIndirect ? getVariable(cursor, named) : named;
  const name = pointed !== undefined && /^\w+$|^[@*]$/.test(pointed) ? pointed : named;
  const value = getVariable(cursor, name);
  const defaultWord = /^(:?[-=+])([\s\S]*)$/.exec(how);
  if (defaultWord !== null) {
    const [, operator, word] = defaultWord;
    const isOther = operator!.endsWith('+');
    if (operator!.endsWith('=') && value === undefined)
      assignVariable(cursor.variables, name, readDefaultWord(cursor, word!));
    if (isOther ? value !== undefined || !/[$`]/.test(word!) : value === undefined)
      return readDefaultWord(cursor, word!);
  }
  if (value === undefined || how === '' || defaultWord !== null) {
    if (value === undefined && /^:0?:1$/.test(how) && BEGINS_WITH_SLASH.test(name)) return '/';
    return fillVariable(cursor, name, index);
  }
  return tryToSpend(cursor.work, value.length)
    ? modifyValue(getElement(value, index), readDefaultWord(cursor, how))
    : '$';
}

/** Returns an element of a list by its number; the whole list without one. */
function getElement(value: string, index: string | undefined): string {
  return index !== undefined && /^\d+$/.test(index) ? (value.split(LIST_MARK)[Number(index)] ?? '') : value;
}

/** Reads a default word: without quotes and escapes, with known variables expanded. */
function readDefaultWord(cursor: ShellCursor, word: string): string {
  return word
    .replace(/\$\([^()]{0,200}\)|`[^`]{0,200}`/g, '$()')
    .replace(/\$\{?([A-Za-z_]\w{0,80})\}?/g, (_, name: string) => fillVariable(cursor, name))
    .replace(/["']|\\(?=.)/gs, '');
}

function getVariable(cursor: ShellCursor, name: string): string | undefined {
  return cursor.variables.get(cursor.dialect === 'windows' ? name.toLowerCase() : name);
}

function fillVariable(cursor: ShellCursor, name: string, index?: string): string {
  const value = getVariable(cursor, name);
  if (value === undefined || !tryToSpend(cursor.work, value.length)) {
    // Braces separate a name from the text after it.
    return /\w/.test(cursor.text[cursor.at] ?? '') ? `\${${name}}` : `$${name}`;
  }
  return getElement(value, index);
}

/** Sets a variable; long and unknown values are not kept. */
export function assignVariable(variables: Map<string, string>, name: string, value: string): void {
  if (value.length > SHELL_LIMITS.variable_units_max || value.includes('$()')) variables.delete(name);
  else variables.set(name, value);
}
