import { decodeUtf8Bytes, parseHexDigit } from './readable-bytes.ts';

/** The decoded units at an offset of a text, and the end of the encoded form. */
export interface DecodedUnits {
  readonly text: string;
  readonly end: number;
}

/** The form of an HTML entity. */
export const ENTITY = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,14});?/y;
/** The form of a backslash escape. */
export const BACKSLASH_ESCAPE =
  /\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|(\r?\n)|([^\r\n]))/y;
const PERCENT = 37;
/** The end of a string literal, the operator, and the start of the next literal. */
export const STRING_JOIN =
  /(?:\\?["'`])[ \t]{0,40}(?:(?:[+&~.]|\.\.|\|\||<>)?[ \t]{0,40}\\?(?:\r?\n[ \t]{0,80}){0,2}(?:[+&~.]|\.\.|\|\|)?[ \t]{0,40})(?:\\?["'`])(?=[^\s"'`,;:)\]}])/y;

/** The same with a plus sign, which joins literals that end or begin with a blank, too. */
const PLUS_JOIN =
  /(?<=[A-Za-z0-9., ])["'`][ \t]{0,4}\+[ \t]{0,4}["'`](?=[A-Za-z0-9 ])|(?<=\+[0-9]{1,3}[0-9 ]{0,10} )["']\r?\n[ \t]{0,40}["'](?=[0-9])/y;

/**
 * A terminal sequence (ECMA-48), which a terminal executes and does not show: colours, movements of the
 * cursor, titles, links. Its length is bounded, so that an unterminated one hides nothing.
 */
export const TERMINAL_SEQUENCE =
  /(?:\x1b\[|\x9b)[0-?]{0,32}[ -/]{0,4}[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,256}(?:\x07|\x1b\\|\x9c)|\x1b[PX^_][^\x1b\n]{0,256}\x1b\\|\x1b[ -/]{1,2}[0-~]|\x1b(?:[78=>]|[c-eDEHMNOZ](?![A-Za-z0-9]))/y;
/** A colour sequence that has lost its first character. */
export const COLOUR_REMAINDER = /\[\d{1,3}(?:;\d{1,3}){0,6}m(?=[^\s\]])/y;

/**
 * The named entities of ASCII and of invisible characters. It is a map, because a plain object would also
 * have `constructor`.
 */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    num: '#',
    dollar: '$',
    percnt: '%',
    lpar: '(',
    rpar: ')',
    ast: '*',
    plus: '+',
    comma: ',',
    period: '.',
    sol: '/',
    colon: ':',
    semi: ';',
    equals: '=',
    quest: '?',
    commat: '@',
    lsqb: '[',
    lbrack: '[',
    rsqb: ']',
    rbrack: ']',
    bsol: '\\',
    lowbar: '_',
    UnderBar: '_',
    hyphen: '-',
    dash: '-',
    grave: '`',
    lcub: '{',
    lbrace: '{',
    rcub: '}',
    rbrace: '}',
    vert: '|',
    verbar: '|',
    excl: '!',
    Tab: '\t',
    NewLine: '\n',
    shy: '',
    zwj: '',
    zwnj: '',
    ZeroWidthSpace: '',
  }),
);
const LETTER_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Decodes an HTML entity. The semicolon is optional, as in browsers. */
export function decodeEntity(text: string, at: number): DecodedUnits | null {
  ENTITY.lastIndex = at;
  if (!ENTITY.test(text)) return null;
  const end = ENTITY.lastIndex;
  const name = text.slice(at + 1, text[end - 1] === ';' ? end - 1 : end);
  if (name[0] === '#') return buildDecodedUnits(decodeCodePoint(name.slice(1).replace(/^[xX]/, '0x')), end);
  return buildDecodedUnits(ENTITIES.get(name), end);
}

/** Decodes a backslash escape of programming languages. A backslash before a line break joins the lines. */
export function decodeBackslash(text: string, at: number): DecodedUnits | null {
  if (text.startsWith('e[', at + 1)) return decodeEscapedTerminal(text, at + 2);
  const found = matchAt(BACKSLASH_ESCAPE, text, at);
  if (found === null) return null;
  const [whole, u, braced, long, x, octal, line, letter] = found;
  const end = at + whole.length;
  const hex = u ?? braced ?? long ?? x;
  const number = hex === undefined ? octal && `0o${octal}` : `0x${hex}`;
  if (number !== undefined)
    return Number(number) === ESCAPE
      ? decodeEscapedTerminal(text, end)
      : buildDecodedUnits(decodeCodePoint(number), end);
  if (line !== undefined) return { text: '', end };
  return { text: LETTER_ESCAPES[letter!] ?? letter!, end };
}

/** Decodes one percent-encoded character of one or more bytes. */
export function decodePercent(text: string, at: number): DecodedUnits | null {
  const bytes: number[] = [];
  for (let next = at; bytes.length < 4; next += 3) {
    const byte = parseHexDigit(text.charCodeAt(next + 1)) * 16 + parseHexDigit(text.charCodeAt(next + 2));
    if (text.charCodeAt(next) !== PERCENT || Number.isNaN(byte)) return null;
    if (next === at && byte < 0x80) return { text: String.fromCharCode(byte), end: next + 3 };
    bytes.push(byte);
    const decoded = decodeUtf8Bytes(bytes);
    if (decoded !== null) return { text: decoded, end: next + 3 };
  }
  return null;
}

/** Follows the apostrophe of a possessive: the `'s` of `"main"'s owner` continues no literal. */
const POSSESSIVE = /^s(?![A-Za-z0-9_])/;

/** Decodes the end of a string literal that the next one continues: `"ab" + "cd"`, `'ab' 'cd'`. */
export function decodeStringJoin(text: string, at: number): DecodedUnits | null {
  const before = at === 0 ? ' ' : text[at - 1]!;
  const found =
    (/[^\s"'`,;:([{=]/.test(before) ? matchAt(STRING_JOIN, text, at) : null) ?? matchAt(PLUS_JOIN, text, at);
  if (found === null) return null;
  const end = at + found[0].length;
  return found[0].endsWith("'") && POSSESSIVE.test(text.slice(end, end + 2)) ? null : { text: '', end };
}

/** Names of members that hold the parts of a value, in front of their number. */
export const NUMBERED_NAMES: readonly string[] = [
  ...['part', 'chunk', 'piece', 'segment', 'seg', 'fragment', 'frag', 'half', 'str', 'string', 'payload'],
  ...['value', 'token'],
];

/**
 * The end of a string literal and the start of its continuation: the next variable in a line of shell
 * (`A='ab'; B='cd'`), or the member with the next number (`"part1":"ab","part2":"cd"`).
 */
const NEXT_PART = new RegExp(
  `(?:["'];[ \\t]?[A-Za-z_]{1,8}=["']|\\\\?["'][ \\t]{0,2},[ \\t]{0,2}\\\\?["'](?:${NUMBERED_NAMES.join('|')})_?2\\\\?["'][ \\t]{0,2}:[ \\t]{0,2}\\\\?["'])(?=[^\\s"'])`,
  'y',
);
/** Two elements of a list, and the call before the list that joins them without a separator. */
const NEXT_ELEMENT = /["'][ \t]{0,4},[ \t]{0,4}(?:\r?\n[ \t]{0,40})?["']/y;
const JOINED = /["']["']\.join\([[(](?![\s\S]*[\])])/;
/** The most units of such a list. */
export const JOINED_LIST_UNITS_MAX = 200;

/** Decodes the end of a literal that is one of several parts of a value. */
export function decodePartJoin(text: string, at: number): DecodedUnits | null {
  const part = matchAt(NEXT_PART, text, at);
  if (part !== null) return { text: '', end: at + part[0].length };
  const element = matchAt(NEXT_ELEMENT, text, at);
  if (element === null) return null;
  const isJoined = JOINED.test(text.slice(Math.max(0, at - JOINED_LIST_UNITS_MAX), at));
  return isJoined ? { text: '', end: at + element[0].length } : null;
}

/** Comments and empty elements, which a browser does not show, and emphasis next to the sign of an address. */
const UNSHOWN =
  /(?:<!--[^<>\n]{0,40}-->|<([a-z]{1,8})><\/\1>){1,4}(?=[A-Za-z0-9@])|(?<=@)\*{1,3}(?=[a-z0-9])/y;

/** Decodes markup inside a word to nothing. */
export function decodeMarkup(text: string, at: number): DecodedUnits | null {
  if (at === 0 || !/[\w@.+ -]/.test(text[at - 1]!)) return null;
  const found = matchAt(UNSHOWN, text, at);
  return found === null ? null : { text: '', end: at + found[0].length };
}

/** Decodes a terminal sequence, or the control character alone, to nothing: a terminal shows neither. */
export function decodeTerminal(text: string, at: number): DecodedUnits {
  const found = matchAt(TERMINAL_SEQUENCE, text, at);
  return { text: '', end: at + (found === null ? 1 : found[0].length) };
}

const ESCAPE = 0x1b;
const WRITTEN_UNITS_MAX = 300;

/** Decodes a terminal sequence whose first character is written as an escape that ends at `end`. */
function decodeEscapedTerminal(text: string, end: number): DecodedUnits {
  const read = decodeTerminal(`\u001b${text.slice(end, end + WRITTEN_UNITS_MAX)}`, 0);
  return { text: '', end: end + read.end - 1 };
}

/** Decodes the rest of a colour sequence without its first character. */
export function decodeColourRemainder(text: string, at: number): DecodedUnits | null {
  const found = matchAt(COLOUR_REMAINDER, text, at);
  return found === null ? null : { text: '', end: at + found[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function decodeCodePoint(number: string): string | undefined {
  const point = Number(number);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

function buildDecodedUnits(text: string | undefined, end: number): DecodedUnits | null {
  return text === undefined ? null : { text, end };
}
