import { countSteps } from '../../steps.ts';

/** Tokenizes SQL by the rules that the dialects share: PostgreSQL, MySQL, SQLite, T-SQL, Oracle, Hive. */

/** One token. `text` is in lower case for a word, the content for a string, and the sign itself for a sign. */
export interface SqlToken {
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'sign';
  readonly text: string;
}

/** The rules in which dialects differ about the end of a comment or a string. */
export interface SqlReading {
  /** True if `\'` is a quote inside a string (MySQL, `E'...'`). */
  readonly has_backslashes: boolean;
  /** True if `#` begins a comment (MySQL). */
  readonly has_hash_comments: boolean;
  /** True if a comment joins the words around it, as in filters that delete comments. */
  readonly joins_comments: boolean;
}

const UNITS_MAX = 262_144;
const TOKEN_STEPS = 20;
/** The beginning of a string in single quotes, the beginning of a comment, or its end. */
const REMOVABLE = /'|--|\/\*|\*\//g;
const WORD = /[A-Za-z_\u0080-\uffff@][\w$\u0080-\uffff@]*/y;
const NUMBER = /\d[\w.]*/y;
const DOLLAR = /\$(?:[A-Za-z_]\w{0,62})?\$/y;
const SPACE = /\s+/y;

const PLAIN_READING: SqlReading = {
  has_backslashes: false,
  has_hash_comments: false,
  joins_comments: false,
};

/** Returns the readings that can give different tokens for a text. */
export function listSqlReadings(text: string): readonly SqlReading[] {
  const plain = PLAIN_READING;
  const readings = [plain];
  if (/\\['"`]/.test(text)) readings.push({ ...plain, has_backslashes: true });
  if (text.includes('#')) readings.push({ ...plain, has_hash_comments: true });
  if (/\w\/\*|\*\/\w/.test(text)) readings.push({ ...plain, joins_comments: true });
  return readings;
}

/**
 * Returns the tokens of a text without comments. The content of `/*! ... *\/` is included, because MySQL runs
 * it. Linear.
 */
export function tokenizeSql(text: string, reading: SqlReading): readonly SqlToken[] {
  const source = reading.joins_comments ? text.replace(/\/\*(?!!)[\s\S]{0,1000}?\*\//g, '') : text;
  const tokens: SqlToken[] = [];
  const end = Math.min(source.length, UNITS_MAX);
  const searches: SearchFailures = new Map();
  let at = 0;
  while (at < end) {
    const skipped = skipBlank(source, at, reading, searches);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    countSteps(TOKEN_STEPS);
    const { token, next } = readToken(source, at, reading, searches);
    tokens.push(token);
    at = next;
  }
  return tokens;
}

/**
 * Returns a text without its comments and without the content of its strings in single quotes. Other quotes stay,
 * because the text may be SQL inside of other code. Linear.
 */
export function removeSqlText(text: string): string {
  let bare = '';
  let at = 0;
  const searches: SearchFailures = new Map();
  for (;;) {
    REMOVABLE.lastIndex = at;
    const found = REMOVABLE.exec(text);
    if (found === null) return bare + text.slice(at);
    bare += text.slice(at, found.index);
    if (found[0] === "'") {
      const end = findEnd(text, found.index, "'", searches, findQuoteEnd);
      bare += end < 0 ? "'" : "''";
      at = (end < 0 ? found.index : end) + 1;
    } else {
      bare += found[0] === '--' ? '\n' : ' ';
      at = skipBlank(text, found.index, PLAIN_READING, searches);
    }
  }
}

/**
 * Returns the end of the white space or comment that begins at an offset; the offset itself if there is none.
 */
function skipBlank(
  text: string,
  at: number,
  { has_hash_comments }: SqlReading,
  searches: SearchFailures,
): number {
  const space = matchEnd(SPACE, text, at);
  if (space > at) return space;
  if (text.startsWith('--', at) || (has_hash_comments && text[at] === '#')) return findLineEnd(text, at);
  if (text.startsWith('/*!', at)) return at + /^\/\*!\d{0,6}/.exec(text.slice(at, at + 12))![0].length;
  if (text.startsWith('*/', at)) return at + 2;
  return text.startsWith('/*', at) ? findCommentEnd(text, at, searches) : at;
}

function findLineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found + 1;
}

/**
 * Returns the end of a comment. Comments nest in PostgreSQL and T-SQL. A comment that is never closed hides
 * nothing.
 */
function findCommentEnd(text: string, start: number, searches: SearchFailures): number {
  const end = findEnd(text, start + 2, '*/', searches, (_, from, mark) => text.indexOf(mark, from));
  return end < 0 ? start + 2 : end + 2;
}

/** The number of searches for an end that found none, by the kind of the end. */
type SearchFailures = Map<string, number>;

/** The most searches of a kind that find no end. Each reads the rest of the text; after them, none is begun. */
const FAILURES_MAX = 8;

/** Finds the end of a comment or a string; -1 if there is none. */
function findEnd(
  text: string,
  at: number,
  mark: string,
  searches: SearchFailures,
  find: (text: string, at: number, mark: string) => number,
): number {
  const kind = mark.startsWith('$') ? '$' : mark;
  const failures = searches.get(kind) ?? 0;
  if (failures >= FAILURES_MAX) return -1;
  const end = find(text, at, mark);
  if (end < 0) searches.set(kind, failures + 1);
  countSteps((end < 0 ? text.length : end) - at);
  return end;
}

interface TokenRead {
  readonly token: SqlToken;
  readonly next: number;
}

function readToken(text: string, at: number, reading: SqlReading, searches: SearchFailures): TokenRead {
  const unit = text[at]!;
  if (unit === "'") return readQuoted(text, at, "'", 'string', reading, searches);
  if (unit === '"') return readQuoted(text, at, '"', 'name', reading, searches);
  if (unit === '`') return readQuoted(text, at, '`', 'name', reading, searches);
  if (unit === '$') {
    const dollar = readDollarQuoted(text, at, searches);
    if (dollar !== null) return dollar;
  }
  if (unit === '[') {
    const closing = /^\[[\w .$-]{1,128}\]/.exec(text.slice(at, at + 130));
    if (closing !== null)
      return { token: { kind: 'name', text: closing[0].slice(1, -1) }, next: at + closing[0].length };
  }
  const numberEnd = matchEnd(NUMBER, text, at);
  if (numberEnd > at) return { token: { kind: 'number', text: text.slice(at, numberEnd) }, next: numberEnd };
  const wordEnd = matchEnd(WORD, text, at);
  if (wordEnd === at) return { token: { kind: 'sign', text: unit }, next: at + 1 };
  // `N'...'`, `E'...'`, `X'...'`: the letter belongs to the string.
  if (wordEnd === at + 1 && text[wordEnd] === "'" && /[benx]/i.test(unit))
    return readQuoted(
      text,
      wordEnd,
      "'",
      'string',
      { ...reading, has_backslashes: reading.has_backslashes || /e/i.test(unit) },
      searches,
    );
  return { token: { kind: 'word', text: text.slice(at, wordEnd).toLowerCase() }, next: wordEnd };
}

function readQuoted(
  text: string,
  at: number,
  quote: string,
  kind: SqlToken['kind'],
  { has_backslashes }: SqlReading,
  searches: SearchFailures,
): TokenRead {
  const end = findEnd(text, at, quote, searches, has_backslashes ? findEscapedQuoteEnd : findQuoteEnd);
  // An unclosed quote is a sign like any other.
  if (end < 0) return { token: { kind: 'sign', text: quote }, next: at + 1 };
  return { token: { kind, text: text.slice(at + 1, end).replaceAll(quote + quote, quote) }, next: end + 1 };
}

/** Returns the offset of the closing quote; -1 if there is none. Two quotes in a row are one in the text. */
function findQuoteEnd(text: string, at: number, quote: string): number {
  let end = text.indexOf(quote, at + 1);
  while (end >= 0 && text[end + 1] === quote) end = text.indexOf(quote, end + 2);
  return end;
}

/** Returns the same where a backslash escapes a quote. */
function findEscapedQuoteEnd(text: string, at: number, quote: string): number {
  for (let end = at + 1; end < text.length; end += 1) {
    const unit = text[end]!;
    if (unit === '\\') end += 1;
    else if (unit === quote && text[end + 1] === quote) end += 1;
    else if (unit === quote) return end;
  }
  return -1;
}

function readDollarQuoted(text: string, at: number, searches: SearchFailures): TokenRead | null {
  const openEnd = matchEnd(DOLLAR, text, at);
  if (openEnd === at) return null;
  const tag = text.slice(at, openEnd);
  const end = findEnd(text, openEnd, tag, searches, (_, from) => text.indexOf(tag, from));
  if (end < 0) return null;
  return { token: { kind: 'string', text: text.slice(openEnd, end) }, next: end + openEnd - at };
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
