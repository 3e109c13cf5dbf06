/** The fewest and the most repeats. */
export interface RepeatRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Returns the most units that a try of a pattern can read, from its source; infinite if a repeat has no bound.
 * Alternatives count as the longest; lookarounds do not count.
 */
export function measurePatternReach({ source }: { readonly source: string }): number {
  return foldPattern(source, { ...REPEAT_FOLD, atom: () => ONCE }).most;
}

/**
 * A fold over a pattern: the result for each atom of one unit, and how the results of parts combine. Bounded
 * lookarounds give `none`.
 */
export interface PatternFold<Answer> {
  readonly none: Answer;
  readonly atom: (atom: string) => Answer;
  readonly both: (a: Answer, b: Answer) => Answer;
  readonly either: (a: Answer, b: Answer) => Answer;
  readonly repeat: (one: Answer, fewest: number, most: number) => Answer;
  /** The result of a lookaround, from the result of its inside. */
  readonly assertion: (inside: Answer) => Answer;
}

/** Folds a pattern's source. */
export function foldPattern<Answer>(source: string, question: PatternFold<Answer>): Answer {
  return readAlternatives({ source, at: 0, question });
}

export const NEVER: RepeatRange = { least: 0, most: 0 };
export const ONCE: RepeatRange = { least: 1, most: 1 };

/** Counts how often something occurs in a match; `atom` gives the count for one unit. */
export const REPEAT_FOLD: Omit<PatternFold<RepeatRange>, 'atom'> = {
  none: NEVER,
  both: (a, b) => ({ least: a.least + b.least, most: a.most + b.most }),
  either: (a, b) => ({ least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) }),
  repeat: (one, fewest, most) => ({ least: one.least * fewest, most: one.most === 0 ? 0 : one.most * most }),
  assertion: ({ most }) => (most === Number.POSITIVE_INFINITY ? { least: 0, most } : NEVER),
};

interface Reader<Answer> {
  readonly source: string;
  at: number;
  readonly question: PatternFold<Answer>;
}

const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:u\{[^}]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]+\}|k<\w+>|.)/y;
const OPENING = /\((?:\?(?::|<?[=!]|<\w+>|[a-z-]+:))?/y;
const COUNT = /(?:\*|\+|\?|\{(\d+)(,(\d*))?\})\??/y;

function readAlternatives<Answer>(reader: Reader<Answer>): Answer {
  const { question, source } = reader;
  let all: Answer | null = null;
  let one = question.none;
  while (reader.at < source.length && source[reader.at] !== ')') {
    if (source[reader.at] === '|') {
      all = all === null ? one : question.either(all, one);
      one = question.none;
      reader.at += 1;
    } else one = question.both(one, readTerm(reader));
  }
  return all === null ? one : question.either(all, one);
}

function readTerm<Answer>(reader: Reader<Answer>): Answer {
  const one = readAtom(reader);
  const count = takeMatch(reader, COUNT);
  if (count === null) return one;
  if (count[0].startsWith('?')) return reader.question.repeat(one, 0, 1);
  const fewest = count[1] === undefined ? (count[0].startsWith('+') ? 1 : 0) : Number(count[1]);
  return reader.question.repeat(one, fewest, getMost(count));
}

function getMost(count: RegExpExecArray): number {
  if (count[1] === undefined || count[3] === '') return Number.POSITIVE_INFINITY;
  return Number(count[2] === undefined ? count[1] : count[3]);
}

function readAtom<Answer>(reader: Reader<Answer>): Answer {
  const { question } = reader;
  const opening = takeMatch(reader, OPENING);
  if (opening !== null) {
    const inside = readAlternatives(reader);
    reader.at += 1;
    return /[=!]$/.test(opening[0]) ? question.assertion(inside) : inside;
  }
  const escaped = takeMatch(reader, ESCAPE);
  if (escaped !== null) return /^\\[bB]/.test(escaped[0]) ? question.none : question.atom(escaped[0]);
  const oneOf = takeMatch(reader, CLASS);
  if (oneOf !== null) return question.atom(oneOf[0]);
  const char = reader.source[reader.at]!;
  reader.at += 1;
  return char === '^' || char === '$' ? question.none : question.atom(char);
}

function takeMatch<Answer>(reader: Reader<Answer>, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}
