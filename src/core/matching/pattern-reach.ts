/**
 * The most units that a try of a pattern can look at, from its source; infinite where a repeat has no bound.
 * Alternatives count as the longest; what looks ahead or behind does not count.
 */
export function patternReach(pattern: { readonly source: string }): number {
  const reader = { source: pattern.source, at: 0 };
  return readAlternatives(reader);
}

interface Reader {
  readonly source: string;
  at: number;
}

const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:u\{[^}]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]+\}|k<\w+>|.)/y;
const OPENING = /\((?:\?(?::|<?[=!]|<\w+>|[a-z-]+:))?/y;
const COUNT = /(?:\*|\+|\?|\{(\d+)(,(\d*))?\})\??/y;

function readAlternatives(reader: Reader): number {
  let longest = 0;
  let length = 0;
  while (reader.at < reader.source.length && reader.source[reader.at] !== ')') {
    if (reader.source[reader.at] === '|') {
      longest = Math.max(longest, length);
      length = 0;
      reader.at += 1;
    } else length += readTerm(reader);
  }
  return Math.max(longest, length);
}

function readTerm(reader: Reader): number {
  const most = readAtom(reader);
  const count = take(reader, COUNT);
  if (count === null || count[0].startsWith('?')) return most;
  if (count[1] === undefined) return Number.POSITIVE_INFINITY;
  if (count[2] === undefined) return most * Number(count[1]);
  return count[3] === '' ? Number.POSITIVE_INFINITY : most * Number(count[3]);
}

function readAtom(reader: Reader): number {
  const opening = take(reader, OPENING);
  if (opening !== null) {
    const inner = readAlternatives(reader);
    reader.at += 1;
    return /[=!]$/.test(opening[0]) ? (inner === Number.POSITIVE_INFINITY ? inner : 0) : inner;
  }
  const escaped = take(reader, ESCAPE);
  if (escaped !== null) return /^\\[bB]/.test(escaped[0]) ? 0 : 1;
  if (take(reader, CLASS) !== null) return 1;
  const char = reader.source[reader.at];
  reader.at += 1;
  return char === '^' || char === '$' ? 0 : 1;
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}
