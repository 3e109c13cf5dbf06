/** How many there are at least and at most. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/**
 * The most units that a try of a pattern can look at, from its source; infinite where a repeat has no bound.
 * Alternatives count as the longest; what looks ahead or behind does not count.
 */
export function patternReach(pattern: { readonly source: string }): number {
  return readAlternatives({ source: pattern.source, at: 0, count: () => ONE }).most;
}

/** How many digits what a pattern matches has, from its source; as `patternReach`. */
export function patternDigits(pattern: { readonly source: string }): Range {
  return readAlternatives({ source: pattern.source, at: 0, count: digitsOf });
}

/** `count` says for an atom that stands for one unit how often it counts. */
interface Reader {
  readonly source: string;
  at: number;
  readonly count: (atom: string) => Range;
}

const ONE: Range = { least: 1, most: 1 };
const NONE: Range = { least: 0, most: 0 };
const MAYBE: Range = { least: 0, most: 1 };

const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:u\{[^}]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]+\}|k<\w+>|.)/y;
const OPENING = /\((?:\?(?::|<?[=!]|<\w+>|[a-z-]+:))?/y;
const COUNT = /(?:\*|\+|\?|\{(\d+)(,(\d*))?\})\??/y;

/** Only digits, no digit, or either. */
function digitsOf(atom: string): Range {
  const one = new RegExp(`^${atom}$`);
  const digits = [...'0123456789'].some((digit) => one.test(digit));
  if (!digits) return NONE;
  const is_only = /^(?:\d|\\d|\[(?:\d|-|\\d)+\])$/.test(atom) && !/^\[-|-\]$/.test(atom);
  return is_only ? ONE : MAYBE;
}

function readAlternatives(reader: Reader): Range {
  let all: Range | null = null;
  let one: Range = NONE;
  while (reader.at < reader.source.length && reader.source[reader.at] !== ')') {
    if (reader.source[reader.at] === '|') {
      all = either(all, one);
      one = NONE;
      reader.at += 1;
    } else {
      const term = readTerm(reader);
      one = { least: one.least + term.least, most: one.most + term.most };
    }
  }
  return either(all, one);
}

function either(a: Range | null, b: Range): Range {
  return a === null ? b : { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) };
}

function readTerm(reader: Reader): Range {
  const { least, most } = readAtom(reader);
  const count = take(reader, COUNT);
  if (count === null) return { least, most };
  if (count[0].startsWith('?')) return { least: 0, most };
  const fewest = count[1] === undefined ? (count[0].startsWith('+') ? 1 : 0) : Number(count[1]);
  return { least: least * fewest, most: most === 0 ? 0 : most * mostOf(count) };
}

function mostOf(count: RegExpExecArray): number {
  if (count[1] === undefined || count[3] === '') return Number.POSITIVE_INFINITY;
  return Number(count[2] === undefined ? count[1] : count[3]);
}

function readAtom(reader: Reader): Range {
  const opening = take(reader, OPENING);
  if (opening !== null) {
    const inner = readAlternatives(reader);
    reader.at += 1;
    if (!/[=!]$/.test(opening[0])) return inner;
    return inner.most === Number.POSITIVE_INFINITY ? { least: 0, most: inner.most } : NONE;
  }
  const escaped = take(reader, ESCAPE);
  if (escaped !== null) return /^\\[bB]/.test(escaped[0]) ? NONE : reader.count(escaped[0]);
  const one_of = take(reader, CLASS);
  if (one_of !== null) return reader.count(one_of[0]);
  const char = reader.source[reader.at]!;
  reader.at += 1;
  return char === '^' || char === '$' ? NONE : reader.count(char);
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}
