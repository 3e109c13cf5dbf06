/**
 * Generates texts that make a pattern work hard: truncated parts of its matches, mixed with separators and repeated.
 * The same seed gives the same texts.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/** Returns an integer from 0 up to, but not including, the bound. */
export type RandomBelow = (bound: number) => number;

/** Creates a deterministic random number generator from a seed. */
export function createRandom(seed: number): RandomBelow {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const SEPARATORS: readonly string[] = [
  ...'.,_-/\'" \n:=(;!a7Z',
  '. ',
  ', ',
  'a ',
  'key ',
  'is ',
  '7zO ',
  'a.b-',
  'the ',
];
/** Maximum number of optional repetitions. Occasionally the larger limit applies. */
const TURNS = 3;
const TURNS_LONG = 24;

/** Parts of a pattern, from which its hostile texts are made. */
export interface PatternParts {
  readonly pattern: AST.Pattern;
  readonly terms: readonly AST.Element[];
}

/** Parses the parts of a pattern. */
export function splitPattern({ source, flags }: RegExp): PatternParts {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') });
  return { pattern, terms: pattern.alternatives.flatMap(listTerms) };
}

function listTerms(node: AST.Alternative): readonly AST.Element[] {
  return node.elements.flatMap((element) => {
    const inner = element.type === 'Quantifier' ? element.element : element;
    const below = 'alternatives' in inner ? inner.alternatives.flatMap(listTerms) : [];
    return [element, ...below];
  });
}

/** Generates one match of the pattern. */
export function generateMatch({ pattern }: PatternParts, below: RandomBelow): string {
  return getAny(pattern.alternatives, below);
}

/** Generates a text that starts like a match and continues with parts of the pattern or with separators. */
export function generateHostilePiece(parts: PatternParts, below: RandomBelow): string {
  const whole = generateMatch(parts, below);
  const head = whole.slice(0, below(3) === 0 ? whole.length : 1 + below(whole.length + 1));
  return head + generateTail(parts, below);
}

/** Returns the piece with one small change. */
export function mutatePiece(piece: string, parts: PatternParts, below: RandomBelow): string {
  const at = below(piece.length + 1);
  const from = below(at + 1);
  switch (below(5)) {
    case 0:
      return piece.slice(0, at) + generateTail(parts, below) + piece.slice(at);
    case 1:
      return piece.slice(0, at) + piece.slice(from, at).repeat(1 + below(8)) + piece.slice(at);
    case 2:
      return piece.slice(0, from) + piece.slice(at);
    case 3:
      return piece.slice(0, at) + generateTail(parts, below);
    default:
      return piece.slice(0, from) + generateTail(parts, below) + piece.slice(at);
  }
}

function generateTail({ terms }: PatternParts, below: RandomBelow): string {
  const part = (): string => {
    if (below(2) === 0) return SEPARATORS[below(SEPARATORS.length)]!;
    return getElement(terms[below(terms.length)]!, below);
  };
  let text = '';
  for (let left = 1 + below(3); left > 0; left--) text += part();
  return text.repeat(1 + below(12));
}

function getAny(alternatives: readonly AST.Alternative[], below: RandomBelow): string {
  const { elements } = alternatives[below(alternatives.length)]!;
  return elements.map((element) => getElement(element, below)).join('');
}

function getElement(element: AST.Element, below: RandomBelow): string {
  switch (element.type) {
    case 'Character':
      return String.fromCodePoint(element.value);
    case 'CharacterClass':
    case 'CharacterSet':
      return getUnit(element, below);
    case 'Group':
    case 'CapturingGroup':
      return getAny(element.alternatives, below);
    case 'Quantifier': {
      const turns = below(6) === 0 ? TURNS_LONG : below(TURNS);
      const count = Math.min(element.max, element.min + turns);
      return Array.from({ length: count }, () => getElement(element.element, below)).join('');
    }
    case 'Assertion':
      return element.kind === 'lookahead' && !element.negate ? getAny(element.alternatives, below) : '';
    default:
      return '';
  }
}

const PRINTABLE = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));

function getUnit(element: AST.CharacterClass | AST.CharacterSet, below: RandomBelow): string {
  if (element.type === 'CharacterClass' && !element.negate && below(2) === 0) {
    const inner = element.elements[below(element.elements.length)];
    if (inner?.type === 'Character') return String.fromCodePoint(inner.value);
    if (inner?.type === 'CharacterClassRange')
      return String.fromCodePoint(inner.min.value + below(inner.max.value - inner.min.value + 1));
  }
  const pattern = new RegExp(element.raw);
  const fitting = PRINTABLE.filter((unit) => pattern.test(unit));
  return fitting[below(fitting.length)] ?? '';
}
