import type { ShellState } from './effects.ts';
import { LIST_MARK, removeMarks } from './expansion.ts';
import { findClosingParen, findLineEnd } from './nesting.ts';
import {
  beginCommand,
  type CommandSink,
  finishCommand,
  flushPending,
  type Parser,
  takeInnerScripts,
} from './parser.ts';
import { readArray, readHereDocument, skipCasePattern, splitWord } from './pieces.ts';
import type { Redirection, ShellScript, ShellWord } from './syntax.ts';
import { addInnerScripts, assignVariable, readWord, type ShellCursor } from './words.ts';
import { spendWork } from './work.ts';

/**
 * Parses a script into commands, in one pass without recursion, and never fails: invalid syntax is read as a shell
 * would begin to read it. Substitutions, here-documents and arithmetic become scripts of their own. Returns the
 * scripts that belong to no command.
 */
export function parseScript(
  script: ShellScript,
  shared: ShellState,
  sink: CommandSink,
): readonly ShellScript[] {
  const { text, dialect } = script;
  const cursor: ShellCursor = {
    text,
    dialect,
    at: 0,
    inner: [],
    variables: shared.variables,
    work: shared.work,
    is_splitting: false,
    marked: null,
    evaluate: shared.evaluate,
  };
  const parser: Parser = {
    script,
    cursor,
    sink,
    functions: shared.functions,
    here_documents: [],
    pending: [],
    blocks: [],
    defined: null,
    cases: 0,
    is_pattern_next: false,
    is_test: false,
    is_name_next: false,
    words: [],
    assignments: [],
    redirections: [],
    start: -1,
    end: 0,
    owned: 0,
    previous: script.previous,
    last: null,
  };
  spendWork(shared.work, text.length);
  while (cursor.at < text.length && shared.work.left >= 0) parseStep(parser);
  finishCommand(parser);
  flushPending(parser);
  return takeInnerScripts(parser, false, null);
}

function parseStep(parser: Parser): void {
  const { cursor } = parser;
  const char = cursor.text[cursor.at]!;
  if (parser.is_pattern_next && !/[\s#]/.test(char)) {
    parser.is_pattern_next = false;
    skipCasePattern(cursor);
    return;
  }
  if (char === ' ' || char === '\t' || char === '\r') cursor.at += 1;
  else if (char === '\\' && cursor.dialect === 'posix' && cursor.text[cursor.at + 1] === '\n') cursor.at += 2;
  else if (parser.is_test && '()<>|&'.includes(char)) cursor.at += 1;
  else if (char === '\n') endLine(parser);
  else if (char === '#') skipComment(parser);
  else if (char === ';' || char === '&' || char === '|') readOperator(parser, char);
  else if (char === '(' || char === ')') readParen(parser, char);
  else if (char === '<' || char === '>') readRedirection(parser, char);
  else if (cursor.dialect === 'windows' && '{},'.includes(char)) readWindowsMark(parser, char);
  else addWord(parser);
}

function skipComment({ cursor }: Parser): void {
  cursor.at = findLineEnd(cursor.text, cursor.at);
}

function endLine(parser: Parser): void {
  if (!isCase(parser)) separateCommands(parser);
  parser.cursor.at += 1;
  for (const document of parser.here_documents.splice(0)) readHereDocument(parser.cursor, document);
  flushPending(parser);
}

/** Ends a command whose output the next one does not read. */
function separateCommands(parser: Parser): void {
  finishCommand(parser);
  parser.previous = null;
}

function readOperator(parser: Parser, char: string): void {
  const { cursor } = parser;
  const next = cursor.text[cursor.at + 1];
  if (char === '&' && next === '>') {
    readRedirection(parser, char);
    return;
  }
  const isPipe = char === '|' && next !== '|';
  const endsCase = char === ';' && (next === ';' || next === '&');
  if (endsCase) parser.is_pattern_next = parser.cases > 0;
  cursor.at += next === char || (char !== '&' && next === '&') ? 2 : 1;
  if (endsCase && next === ';' && cursor.text[cursor.at] === '&') cursor.at += 1;
  finishCommand(parser, isPipe);
  parser.previous = isPipe ? parser.last : null;
  // `(a; b) | c`: the last command ended before.
  if (isPipe && parser.last !== null) parser.last.feeds_pipe = true;
}

function readParen(parser: Parser, char: string): void {
  const { cursor } = parser;
  if (char === '(' && cursor.text[cursor.at + 1] === '(' && parser.words.length === 0) {
    const end = findClosingParen(cursor.text, cursor.at + 2, true);
    spendWork(cursor.work, end - cursor.at);
    // `((a) | b)` is a subshell in a subshell; only `((a))` is arithmetic.
    if (cursor.text[end + 1] === ')') {
      addInnerScripts(cursor, cursor.at + 2, end);
      cursor.at = end + 2;
      return;
    }
  }
  const isName = parser.words.length === 1 && parser.redirections.length === 0;
  const isDefinition = char === '(' && isName && cursor.text[cursor.at + 1] === ')';
  if (isDefinition) {
    defineFunction(parser, parser.words[0]!.text);
    cursor.at += 2;
    return;
  }
  cursor.at += 1;
  finishCommand(parser);
  // `iex (iwr ...)` runs what is in the parentheses.
  if (
    char === '(' &&
    cursor.dialect === 'windows' &&
    /^(?:iex|invoke-expression)$/.test(parser.last?.name ?? '')
  )
    parser.previous = parser.last;
}

/** Treats the text read so far as the name of a function, not as a command. */
function defineFunction(parser: Parser, name: string): void {
  parser.functions.set(name, '');
  parser.defined = name;
  parser.is_name_next = false;
  parser.words = [];
  parser.start = -1;
}

/** Reads a mark of PowerShell, where braces are blocks and a comma separates the elements of a list. */
function readWindowsMark(parser: Parser, char: string): void {
  parser.cursor.at += 1;
  if (char !== ',') separateCommands(parser);
}

const REDIRECTION = /&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>/y;

function readRedirection(parser: Parser, char: string): void {
  const { cursor } = parser;
  if (cursor.text[cursor.at + 1] === '(' && char !== '&') {
    readProcess(parser, char);
    return;
  }
  beginCommand(parser, cursor.at);
  REDIRECTION.lastIndex = cursor.at;
  const operator = REDIRECTION.exec(cursor.text)![0];
  cursor.at += operator.length;
  while (cursor.text[cursor.at] === ' ' || cursor.text[cursor.at] === '\t') cursor.at += 1;
  const from = cursor.at;
  const next = cursor.text[from];
  parser.end = cursor.at;
  if ((next === '<' || next === '>') && cursor.text[from + 1] === '(') return;
  const word = readWord(cursor);
  parser.end = cursor.at;
  const redirection: Redirection = { operator, target: word.text };
  parser.redirections.push(redirection);
  if (operator === '<<' || operator === '<<-') {
    const isLiteral = word.is_quoted || cursor.text[from] === '\\';
    parser.here_documents.push({
      redirection,
      end: word.text,
      is_literal: isLiteral,
      is_indented: operator === '<<-',
    });
  }
}

/** Reads `<(...)`, which is a file with the output of a script. */
function readProcess(parser: Parser, char: string): void {
  const { cursor } = parser;
  beginCommand(parser, cursor.at);
  const from = cursor.at + 2;
  const end = findClosingParen(cursor.text, from, true);
  spendWork(cursor.work, end - cursor.at);
  cursor.inner.push({ from, to: end, is_fed: char === '>' });
  cursor.at = end + 1;
  parser.end = cursor.at;
  const isShort = char === '<' && end - from < PROCESS_UNITS_MAX;
  const output = isShort ? cursor.evaluate(cursor.text.slice(from, end)) : null;
  const text = char === '<' ? '<()' : '>()';
  parser.words.push(output === null ? { text, is_quoted: false } : { text, is_quoted: false, output });
}

/** The most UTF-16 units of a script whose output is computed. */
const PROCESS_UNITS_MAX = 400;

/** Words after which a command begins. */
const OPENERS = new Set([
  'if',
  'then',
  'else',
  'elif',
  'do',
  'while',
  'until',
  '!',
  '{',
  '}',
  'fi',
  'done',
  'coproc',
  'try',
  'finally',
  '&',
  '.\\',
]);
const ASSIGNMENT = /^([\w-]*)(?:\[[^\]]{0,40}\])?\+?=/;

function addWord(parser: Parser): void {
  const { cursor } = parser;
  const from = cursor.at;
  const word = readWord(cursor);
  if (cursor.at === from) {
    cursor.at += 1;
    return;
  }
  const next = cursor.text[cursor.at];
  const isDescriptor = (next === '<' || next === '>') && /^\d{1,3}$/.test(word.text) && !word.is_quoted;
  if (isDescriptor) return;
  const isFirst = parser.words.length === 0;
  if (isFirst && !word.is_quoted && isKeyword(parser, word.text)) return;
  if (parser.is_name_next) {
    defineFunction(parser, word.text);
    return;
  }
  beginCommand(parser, from);
  parser.end = cursor.at;
  if (isFirst && readAssignment(parser, word, from)) return;
  if (next === '(' && /^\w+\+?=$/.test(word.text)) {
    // `declare -a x=(rm -rf /)`
    assignVariable(cursor.variables, word.text.replace(/\+?=$/, ''), readArray(cursor));
    return;
  }
  pushWords(parser, word);
  parser.is_test = parser.words[0]?.text === '[[' && word.text !== ']]';
  if (cursor.dialect === 'posix' && word.text === 'in') openCase(parser);
}

function pushWords({ words, cursor }: Parser, word: ShellWord): void {
  const pieces = splitWord(cursor, word, words.length === 0);
  if (pieces !== null) for (const text of pieces) words.push({ text, is_quoted: false });
  else if (word.text !== '' || word.is_quoted) words.push(word);
}

function isKeyword(parser: Parser, text: string): boolean {
  if (text === '{' || text === '}') noteBlock(parser, text);
  if (text === 'esac') parser.cases = Math.max(0, parser.cases - 1);
  if (text !== 'function' || parser.cursor.dialect === 'windows') return text === 'esac' || OPENERS.has(text);
  parser.is_name_next = true;
  return true;
}

/** Keeps the body of a function, which a call reads again with its arguments. */
function noteBlock(parser: Parser, text: string): void {
  const { blocks, cursor, functions } = parser;
  if (text === '{') {
    blocks.push({ name: parser.defined, from: cursor.at });
    parser.defined = null;
    return;
  }
  const block = blocks.pop();
  if (block !== undefined && block.name !== null)
    functions.set(block.name, cursor.text.slice(block.from, cursor.at - 1));
}

function isCase({ words, cursor }: Parser): boolean {
  const first = words[0];
  return cursor.dialect === 'posix' && first !== undefined && first.text === 'case' && !first.is_quoted;
}

/** Begins `case word in`, after which patterns and commands follow. */
function openCase(parser: Parser): void {
  if (!isCase(parser) || parser.words.length === 1) return;
  finishCommand(parser);
  parser.cases += 1;
  parser.is_pattern_next = true;
}

function readAssignment(parser: Parser, word: ShellWord, from: number): boolean {
  const { cursor } = parser;
  if (cursor.dialect === 'windows') return readPowerShellAssignment(parser, from);
  const found = ASSIGNMENT.exec(word.text);
  if (found === null || /["']/.test(cursor.text[from]!)) return false;
  const name = found[1]!;
  const written = cursor.text[cursor.at] === '(' ? readArray(cursor) : word.text.slice(found[0].length);
  const before = found[0].endsWith('+=') ? (cursor.variables.get(name) ?? '') : '';
  const isAdded = before !== '' && cursor.text[cursor.at - 1] === ')';
  const value = isAdded ? `${before}${LIST_MARK}${written}` : before + written;
  parser.assignments.push({ name, value: removeMarks(value) });
  assignVariable(cursor.variables, name, value);
  return true;
}

const POWERSHELL_ASSIGNMENT = /\$([A-Za-z_][\w:]{0,80})[ \t]{0,8}\+?=(?!=)[ \t]{0,8}/y;

/**
 * Reads `$name = value`. The words of the value are judged like a command, and a quoted text becomes the
 * value of the variable.
 */
function readPowerShellAssignment({ cursor }: Parser, from: number): boolean {
  POWERSHELL_ASSIGNMENT.lastIndex = from;
  const found = POWERSHELL_ASSIGNMENT.exec(cursor.text);
  if (found === null) return false;
  cursor.at = POWERSHELL_ASSIGNMENT.lastIndex;
  if (/["']/.test(cursor.text[cursor.at] ?? '')) {
    const { at } = cursor;
    const scripts = cursor.inner.length;
    const { text } = readWord(cursor);
    spendWork(cursor.work, cursor.at - at);
    assignVariable(cursor.variables, found[1]!.toLowerCase(), text);
    cursor.at = at;
    cursor.inner.length = scripts;
  }
  return true;
}
