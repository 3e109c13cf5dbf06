import { CLOSE, changed, hasMarks, LIST, OPEN, OR, opensChoice, rangeAt, withoutMarks } from './expansion.ts';
import { closingBacktick, closingBrace, closingParen, closingQuote } from './nesting.ts';
import { escaped } from './output.ts';
import { type Dialect, SHELL_LIMITS, type Word } from './syntax.ts';
import { afford, spend, type Work } from './work.ts';

/** A script that stands inside a word: `$(...)`, backticks, `<(...)`. */
export interface Inner {
  readonly from: number;
  readonly to: number;
}

/** Where reading has come to in one script. */
export interface Cursor {
  readonly text: string;
  readonly dialect: Dialect;
  at: number;
  /** Scripts inside the words that were read so far. */
  readonly inner: Inner[];
  readonly variables: Map<string, string>;
  readonly work: Work;
  /** True if the word that was read last holds a variable that is split at its blanks. */
  is_splitting: boolean;
  /** The word that was read last with the marks of lists and choices; `null` where it has none. */
  marked: string | null;
  /** What a script prints, where that is known. */
  readonly evaluate: (script: string) => string | null;
}

/** Units that end a word where they are not quoted. */
const ENDS_POSIX = new Set(' \t\r\n;|&()<>');
const ENDS_WINDOWS = new Set(' \t\r\n;|&(){}<>,');

/**
 * Reads one word from where the cursor stands, and leaves the cursor behind it. The word may be empty: `""`.
 * Every unit is looked at once; what is in a substitution is left to the script that it becomes.
 */
export function readWord(cursor: Cursor): Word {
  const ends = cursor.dialect === 'posix' ? ENDS_POSIX : ENDS_WINDOWS;
  let text = '';
  let is_quoted = false;
  let has_glob = false;
  let choices = 0;
  const from = cursor.at;
  cursor.is_splitting = false;
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at]!;
    if (ends.has(char)) break;
    if (char === '*' || char === '?' || char === '[') has_glob = true;
    else if (cursor.dialect === 'posix' && (char === '{' || choices > 0)) {
      const mark = readChoice(cursor, char, choices);
      if (mark !== null) {
        choices += mark === OPEN ? 1 : mark === CLOSE ? -1 : 0;
        text += mark;
        continue;
      }
    }
    if (char === '$' && isSpacer(cursor)) {
      // `$IFS` between letters is a blank in disguise.
      if (text !== '') break;
      continue;
    }
    if (char === '"' || char === "'") is_quoted = true;
    text += readPiece(cursor, char);
  }
  cursor.marked = hasMarks(text) ? text : null;
  const plain = withoutMarks(text);
  if (is_quoted && isOneQuotation(cursor.text, from, cursor.at))
    return { text: plain, is_quoted, is_literal: true };
  return has_glob ? { text: plain, is_quoted, has_glob } : { text: plain, is_quoted };
}

/** `{a,b}` outside of quotes, unit by unit: its mark, or `null` where the unit is part of a choice or of none. */
function readChoice(cursor: Cursor, char: string, open: number): string | null {
  const { text, at } = cursor;
  if (char === '{') {
    const range = rangeAt(text, at);
    if (range === null && !opensChoice(text, at)) return null;
    cursor.at = range === null ? at + 1 : range.end;
    return range === null ? OPEN : `${OPEN}${range.values.join(OR)}${CLOSE}`;
  }
  if (open === 0 || (char !== ',' && char !== '}')) return null;
  cursor.at += 1;
  return char === ',' ? OR : CLOSE;
}

/** Returns whether single quotes begin and end it, and there are no others in it. */
function isOneQuotation(text: string, from: number, to: number): boolean {
  return text[from] === "'" && text.indexOf("'", from + 1) === to - 1;
}

/** Steps over `$IFS`, `${IFS}` and `$IFS$9`, and says whether it stood there. */
function isSpacer(cursor: Cursor): boolean {
  const spacer = /\$(?:\{IFS[^}]{0,20}\}|IFS(?![A-Za-z0-9_]))(?:\$\d|\$\(\))?/y;
  spacer.lastIndex = cursor.at;
  if (!spacer.test(cursor.text)) return false;
  cursor.at = spacer.lastIndex;
  return true;
}

function readPiece(cursor: Cursor, char: string): string {
  if (char === "'") return readSingle(cursor, cursor.at + 1);
  if (char === '"') return readDouble(cursor);
  if (char === '$') return readDollar(cursor, false);
  if (cursor.dialect === 'windows') return readWindows(cursor, char);
  if (char === '\\') return readEscape(cursor);
  if (char === '`') return readBacktick(cursor, false);
  cursor.at += 1;
  return char;
}

/** The backtick escapes in PowerShell, the caret in `cmd`. */
function readWindows(cursor: Cursor, char: string): string {
  const is_escape = char === '`' || char === '^';
  cursor.at += is_escape ? 2 : 1;
  if (!is_escape) return char;
  const escaped = cursor.text[cursor.at - 1] ?? '';
  return escaped === '\n' || escaped === '\r' ? '' : escaped;
}

function readEscape(cursor: Cursor): string {
  const escaped = cursor.text[cursor.at + 1] ?? '';
  cursor.at += 2;
  return escaped === '\n' ? '' : escaped;
}

function readSingle(cursor: Cursor, from: number): string {
  const end = closingQuote(cursor.text, from, "'");
  cursor.at = end + 1;
  return cursor.text.slice(from, end);
}

function readBacktick(cursor: Cursor, is_quoted: boolean): string {
  const end = closingBacktick(cursor.text, cursor.at + 1);
  spend(cursor.work, end - cursor.at);
  const from = cursor.at + 1;
  cursor.inner.push({ from, to: end });
  cursor.at = end + 1;
  return outputOf(cursor, from, end, is_quoted);
}

function readDouble(cursor: Cursor): string {
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

/** Between double quotes the backslash escapes few units, and stays before the others. */
function readQuotedEscape(cursor: Cursor): string {
  const escaped = cursor.text[cursor.at + 1] ?? '';
  cursor.at += 2;
  if (escaped === '\n') return '';
  return '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
}

function readDollar(cursor: Cursor, is_quoted: boolean): string {
  const { text, at } = cursor;
  const next = text[at + 1];
  if (next === '(') return readSubstitution(cursor, is_quoted);
  if (next === "'" && !is_quoted && cursor.dialect === 'posix') return readAnsi(cursor);
  if (next === '"' && !is_quoted) {
    cursor.at += 1;
    return '';
  }
  if (next === '{') return readBraced(cursor, is_quoted);
  const name =
    cursor.dialect === 'posix' ? /[A-Za-z_]\w{0,80}|[0-9@*#?$!-]/y : /[A-Za-z_][\w:]{0,80}|[0-9@*#?$!-]/y;
  name.lastIndex = at + 1;
  const found = name.exec(text);
  cursor.at = found === null ? at + 1 : name.lastIndex;
  if (!is_quoted) cursor.is_splitting = true;
  return found === null ? '$' : fill(cursor, found[0]);
}

function readSubstitution(cursor: Cursor, is_quoted: boolean): string {
  const { text, at, dialect } = cursor;
  const is_arithmetic = text[at + 2] === '(';
  const end = closingParen(text, at + 2, dialect === 'posix');
  spend(cursor.work, end - at);
  cursor.at = end + 1;
  if (is_arithmetic && text[end - 1] === ')') {
    pushInner(cursor, at + 3, end - 1);
    return '0';
  }
  cursor.inner.push({ from: at + 2, to: end });
  return outputOf(cursor, at + 2, end, is_quoted);
}

/** UTF-16 units of a substitution whose output is worked out. */
const EVALUATED_UNITS_MAX = 400;
/** Programs with which a script begins whose output may be known. */
const PRINTS =
  /^\s*(?:echo|printf|cat|which|command|type|tr|rev|base64|xxd|basename|tee|head|tail|sed|openssl|ssh-agent|direnv|dircolors|brew|starship|pyenv|rbenv|nodenv|goenv|jenv|fnm|zoxide|opam|mise|conda|thefuck|keychain|lesspipe|luarocks|atuin|fzf|minikube|<|[\w./-]*\/echo)[\s<]/;

/** What a substitution prints, `$()` where that is not known. Without quotes it is split at its blanks. */
function outputOf(cursor: Cursor, from: number, to: number, is_quoted: boolean): string {
  if (to - from > EVALUATED_UNITS_MAX) return '$()';
  const script = cursor.text.slice(from, to);
  if (script.trim() === '') return '';
  const output = PRINTS.test(script) ? cursor.evaluate(script) : null;
  if (output === null || hasMarks(output) || !afford(cursor.work, output.length)) return '$()';
  if (!is_quoted) cursor.is_splitting = true;
  return output.replace(/\n+$/, '');
}

/** The scripts in a text in which only substitutions are looked for: arithmetic, the body of a here-document. */
export function pushInner(cursor: Cursor, from: number, to: number): void {
  const { text, dialect } = cursor;
  spend(cursor.work, 2 * (to - from));
  for (let at = from; at < to; at++) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '`' && dialect === 'posix') {
      const end = closingBacktick(text, at + 1, to);
      cursor.inner.push({ from: at + 1, to: end });
      at = end;
    } else if (char === '$' && text[at + 1] === '(' && text[at + 2] !== '(') {
      const end = closingParen(text, at + 2, true, to);
      cursor.inner.push({ from: at + 2, to: end });
      at = end;
    }
  }
}

/** `$'r\x6d'`: escapes of C. */
function readAnsi(cursor: Cursor): string {
  const { text } = cursor;
  const from = cursor.at + 2;
  let end = from;
  while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1;
  cursor.at = Math.min(text.length, end + 1);
  return escaped(text.slice(from, end));
}

/** UTF-16 units in which the `}` of `${` must come. */
const BRACED_UNITS_MAX = 1000;

/**
 * `${NAME}`, `${NAME:-word}`, `${#NAME}`; of defaults the word is taken where the variable is unknown. Scripts
 * in the word run.
 */
function readBraced(cursor: Cursor, is_quoted: boolean): string {
  const from = cursor.at + 2;
  const to = Math.min(cursor.text.length, from + BRACED_UNITS_MAX);
  const is_looked_at = cursor.work.left >= 0;
  const end = is_looked_at ? closingBrace(cursor.text, from, to) : -1;
  if (is_looked_at) spend(cursor.work, (end < 0 ? to : end) - from);
  if (end < 0) {
    cursor.at = from;
    return '$';
  }
  const inside = cursor.text.slice(from, end);
  cursor.at = end + 1;
  if (/[$`]/.test(inside)) pushInner(cursor, from, end);
  const found = BRACED.exec(inside);
  if (found === null) return '$';
  const [{ length }, is_indirect, name, index] = found;
  if (!is_quoted || index === '@') cursor.is_splitting = true;
  return filledAs(cursor, is_indirect === '!', name!, index, inside.slice(length));
}

const BRACED = /^(!?)([A-Za-z_][A-Za-z0-9_]*|\d{1,3}|[@*])(?:\[([^\]]{0,40})\])?/;
/** Variables that every shell has, with the unit that their value begins with. */
const BEGINS_WITH_SLASH = /^(?:HOME|PATH|PWD|OLDPWD|SHELL)$/;

/** The value of `${name}` with what is done to it. */
function filledAs(
  cursor: Cursor,
  is_indirect: boolean,
  named: string,
  index: string | undefined,
  how: string,
): string {
  const pointed = is_indirect ? variableValue(cursor, named) : named;
  const name = pointed !== undefined && /^\w+$|^[@*]$/.test(pointed) ? pointed : named;
  const value = variableValue(cursor, name);
  const default_word = /^(:?[-=+])([\s\S]*)$/.exec(how);
  if (default_word !== null) {
    const [, operator, word] = default_word;
    const is_other = operator!.endsWith('+');
    if (operator!.endsWith('=') && value === undefined) assign(cursor.variables, name, plain(cursor, word!));
    if (is_other ? value !== undefined || !/[$`]/.test(word!) : value === undefined)
      return plain(cursor, word!);
  }
  if (value === undefined || how === '' || default_word !== null) {
    if (value === undefined && /^:0?:1$/.test(how) && BEGINS_WITH_SLASH.test(name)) return '/';
    return fill(cursor, name, index);
  }
  return afford(cursor.work, value.length) ? changed(elementOf(value, index), plain(cursor, how)) : '$';
}

/** An element of a list by its number; all of it without one. */
function elementOf(value: string, index: string | undefined): string {
  return index !== undefined && /^\d+$/.test(index) ? (value.split(LIST)[Number(index)] ?? '') : value;
}

/** The word of a default: quotes and escapes gone, known variables filled in. */
function plain(cursor: Cursor, word: string): string {
  return word
    .replace(/\$\([^()]{0,200}\)|`[^`]{0,200}`/g, '$()')
    .replace(/\$\{?([A-Za-z_]\w{0,80})\}?/g, (_, name: string) => fill(cursor, name))
    .replace(/["']|\\(?=.)/gs, '');
}

function variableValue(cursor: Cursor, name: string): string | undefined {
  return cursor.variables.get(cursor.dialect === 'windows' ? name.toLowerCase() : name);
}

function fill(cursor: Cursor, name: string, index?: string): string {
  const value = variableValue(cursor, name);
  if (value === undefined || !afford(cursor.work, value.length)) {
    // Braces keep a name apart from what follows it.
    return /\w/.test(cursor.text[cursor.at] ?? '') ? `\${${name}}` : `$${name}`;
  }
  return elementOf(value, index);
}

/** Notes what a variable holds from now on; long values and unknown ones are not filled in. */
export function assign(variables: Map<string, string>, name: string, value: string): void {
  if (value.length > SHELL_LIMITS.variable_units_max || value.includes('$()')) variables.delete(name);
  else variables.set(name, value);
}
