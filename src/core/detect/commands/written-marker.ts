import { countSteps } from '../../steps.ts';

/**
 * Finds a redaction marker where a file has a value: a model that read a masked file writes the mask
 * back, and the secret in the file is lost.
 */

/** `[REDACTED]`, `[REDACTED:ssn]`, and the tokens for `redaction.mode: tokenize`. */
const MARKER = /\[(?:REDACTED(?::[a-z][\w.]{0,40})?|([A-Z][A-Z_]{2,30}_\d{1,5}))\]/g;
const MARKERS_MAX = 200;
/** The most UTF-16 units that are read before and after a marker. */
const LINE_UNITS_MAX = 300;

/** Names that say that the text is about masks, as in a logger's tests. */
const IS_ABOUT_MASKS =
  /mask|redact|censor|replac|placeholder|marker|sanit|scrub|obfusc|expect|assert|output|modified|[=!]==?\s{0,4}["'`]?$/i;
/** `name = "`, `"name": "`, and a prefix without blanks: `url = "postgres://app:`. */
const QUOTED_VALUE =
  /[\w$][\])"']{0,3}\s{0,4}(?::?=|:|=>)\s{0,4}[rbfu]?["'`]{1,3}(?:[^\s"'`]{0,200}|(?:bearer|basic|token) )$/i;
const STATEMENT =
  /^\s{0,40}(?:- )?(?:(?:export|setx?|declare|env|arg|const|let|var|local|readonly|final|static|public|private) ){0,4}["']?[\w.-]{1,80}["']?/
    .source;
const PLAIN_VALUE = new RegExp(
  `${STATEMENT}\\s{0,4}(?::\\s{1,4}|:?=\\s{0,4}|=>\\s{0,4})[^\\s"'\`]{0,200}$`,
  'i',
);
const VARIABLE_VALUE = /^\s{0,40}(?:export )?[A-Z][A-Z0-9_]{1,80}=[^\s"'`]{0,200}$/;
/** `-H "X-Api-Key: `, and `--token `. */
const HEADER_VALUE = /["'][a-z][\w-]{1,60}: ?(?:(?:bearer|basic|token) )?$/i;
const OPTION_VALUE = /(?:^|\s)--?[a-z][\w-]{1,60}[ =]["']?$/i;
const ELEMENT_VALUE = /<[\w.:-]{1,60}(?: [^<>]{0,100})?>$/;
const WORD_VALUE = /(?:^|\s)(?:password|passwd|secret|token) {1,4}$/i;
const LIST_VALUE = /^\s{0,40}- ["']?$/;
const QUOTED_PLACES = [QUOTED_VALUE, HEADER_VALUE, LIST_VALUE];
/** The line before a multi-line value: `key: |`, `key =`. */
const OPENS_VALUE = /[\w"'\])]\s{0,4}[:=]\s{0,4}[|>]?[+-]?\s{0,4}$/;

const CLOSES_QUOTE = /^[^\s"'`]{0,200}["'`]/;
const ENDS_LINE = /^[^\s"'`]{0,200}\s{0,40}(?:#.{0,300}|\/\/.{0,300})?$/;

/** Returns the first marker that replaces a value in text that is written to a file. Linear. */
export function findMarkerAsValue(text: string): { readonly start: number; readonly end: number } | null {
  if (!text.includes('[')) return null;
  let checked = 0;
  for (const { 0: marker, 1: token, index } of text.matchAll(MARKER)) {
    if (checked >= MARKERS_MAX) return null;
    checked += 1;
    countSteps(LINE_UNITS_MAX);
    const end = index + marker.length;
    if (isValue(text, index, end, token !== undefined)) return { start: index, end };
  }
  return null;
}

function isValue(text: string, start: number, end: number, isToken: boolean): boolean {
  const window = text.slice(Math.max(0, start - LINE_UNITS_MAX), start);
  const from = window.lastIndexOf('\n') + 1;
  const before = window.slice(from);
  const after = text.slice(end, end + LINE_UNITS_MAX).split(/\r?\n/, 1)[0]!;
  if (IS_ABOUT_MASKS.test(before)) return false;
  if (CLOSES_QUOTE.test(after) && QUOTED_PLACES.some((place) => place.test(before))) return true;
  if (OPTION_VALUE.test(before) || (after.startsWith('</') && ELEMENT_VALUE.test(before))) return true;
  if (!ENDS_LINE.test(after)) return false;
  if (isToken) return VARIABLE_VALUE.test(before);
  const isAlone = before.trim() === '';
  const previous = window
    .slice(0, Math.max(0, from - 1))
    .split('\n')
    .at(-1)!;
  return (
    PLAIN_VALUE.test(before) ||
    WORD_VALUE.test(before) ||
    LIST_VALUE.test(before) ||
    (isAlone && (text.trim().length === end - start || OPENS_VALUE.test(previous)))
  );
}

/** Prose files, in which a marker is an example. */
const IS_PROSE = /\.(?:md|mdx|markdown|rst|adoc|txt|html?|tex)$/i;

/** Returns whether a file is documentation. */
export function isProseFile(path: string): boolean {
  return IS_PROSE.test(path);
}
