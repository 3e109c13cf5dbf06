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
  let at = 0;
  while (at < end) {
    const skipped = skipBlank(source, at, reading);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const { token, next } = readToken(source, at, reading);
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
  for (;;) {
    REMOVABLE.lastIndex = at;
    const found = REMOVABLE.exec(text);
    if (found === null) return bare + text.slice(at);
    bare += text.slice(at, found.index);
    if (found[0] === "'") {
      const end = findQuoteEnd(text, found.index, "'", false);
      bare += end < 0 ? "'" : "''";
      at = (end < 0 ? found.index : end) + 1;
    } else {
      bare += found[0] === '--' ? '\n' : ' ';
      at = skipBlank(text, found.index, PLAIN_READING);
    }
  }
}

/**
 * Returns the end of the white space or comment that begins at an offset; the offset itself if there is none.
 */
function skipBlank(text: string, at: number, { has_hash_comments }: SqlReading): number {
  const space = matchEnd(SPACE, text, at);
  if (space > at) return space;
  if (text.startsWith('--', at) || (has_hash_comments && text[at] === '#')) return findLineEnd(text, at);
  if (text.startsWith('/*!', at)) return at + /^\/\*!\d{0,6}/.exec(text.slice(at, at + 12))![0].length;
  if (text.startsWith('*/', at)) return at + 2;
  return text.startsWith('/*', at) ? findCommentEnd(text, at) : at;
}

function findLineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found + 1;
}

/**
 * Returns the end of a comment. Comments nest in PostgreSQL and T-SQL. A comment that is never closed hides
 * nothing.
 */
function findCommentEnd(text: string, start: number): number {
  const first_end = text.indexOf('*/', start + 2);
  if (first_end < 0) return start + 2;
  return first_end + 2;
}

interface TokenRead {
  readonly token: SqlToken;
  readonly next: number;
}

function readToken(text: string, at: number, reading: SqlReading): TokenRead {
  const unit = text[at]!;
  if (unit === "'") return readQuoted(text, at, "'", 'string', reading);
  if (unit === '"') return readQuoted(text, at, '"', 'name', reading);
  if (unit === '`') return readQuoted(text, at, '`', 'name', reading);
  if (unit === '$') {
    const dollar = readDollarQuoted(text, at);
    if (dollar !== null) return dollar;
  }
  if (unit === '[') {
    const closing = /^\[[\w .$-]{1,128}\]/.exec(text.slice(at, at + 130));
    if (closing !== null)
      return { token: { kind: 'name', text: closing[0].slice(1, -1) }, next: at + closing[0].length };
  }
  const number_end = matchEnd(NUMBER, text, at);
  if (number_end > at)
    return { token: { kind: 'number', text: text.slice(at, number_end) }, next: number_end };
  const word_end = matchEnd(WORD, text, at);
  if (word_end === at) return { token: { kind: 'sign', text: unit }, next: at + 1 };
  // `N'...'`, `E'...'`, `X'...'`: the letter belongs to the string.
  if (word_end === at + 1 && text[word_end] === "'" && /[benx]/i.test(unit))
    return readQuoted(text, word_end, "'", 'string', {
      ...reading,
      has_backslashes: reading.has_backslashes || /e/i.test(unit),
    });
  return { token: { kind: 'word', text: text.slice(at, word_end).toLowerCase() }, next: word_end };
}

function readQuoted(
  text: string,
  at: number,
  quote: string,
  kind: SqlToken['kind'],
  { has_backslashes }: SqlReading,
): TokenRead {
  const end = findQuoteEnd(text, at, quote, has_backslashes);
  // An unclosed quote is a sign like any other.
  if (end < 0) return { token: { kind: 'sign', text: quote }, next: at + 1 };
  return { token: { kind, text: text.slice(at + 1, end).replaceAll(quote + quote, quote) }, next: end + 1 };
}

/** Returns the offset of the closing quote; -1 if there is none. Two quotes in a row are one in the text. */
function findQuoteEnd(text: string, at: number, quote: string, has_backslashes: boolean): number {
  if (!has_backslashes) {
    let end = text.indexOf(quote, at + 1);
    while (end >= 0 && text[end + 1] === quote) end = text.indexOf(quote, end + 2);
    return end;
  }
  for (let end = at + 1; end < text.length; end += 1) {
    const unit = text[end]!;
    if (unit === '\\') end += 1;
    else if (unit === quote && text[end + 1] === quote) end += 1;
    else if (unit === quote) return end;
  }
  return -1;
}

function readDollarQuoted(text: string, at: number): TokenRead | null {
  const open_end = matchEnd(DOLLAR, text, at);
  if (open_end === at) return null;
  const end = text.indexOf(text.slice(at, open_end), open_end);
  if (end < 0) return null;
  return { token: { kind: 'string', text: text.slice(open_end, end) }, next: end + open_end - at };
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
