/**
 * A matcher that counts steps. It explores a pattern in the same order as V8 and counts one step for each compared
 * unit, each repetition and each backtrack. Unlike time, steps are the same on every machine. It is slow and only for
 * tests and benchmarks.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/**
 * Result of one attempt: the end of the match and the positions of its groups, or `null`, and the number of steps.
 */
export interface CountedMatch {
  readonly end: number | null;
  /** Start and end of each group by number; group 0 is the whole match. -1 for a group that did not participate. */
  readonly spans: readonly number[];
  readonly steps: number;
}

/** Matches the pattern at one position of a text, like a sticky regular expression. */
export type CountingMatcher = (text: string, start: number) => CountedMatch;

/** Maximum number of steps. A pattern that takes more is unusable. */
const STEPS_MAX = 20_000_000;

/**
 * Cost of an alternative with another first unit. V8 loads the unit once for all alternatives and compares. Measured:
 * 0.15 to 0.4 ns, compared with about 1 ns for a step of a repeat.
 */
const COMPARISON = 0.25;

/** State of one attempt. */
interface Try {
  readonly text: string;
  readonly spans: number[];
  steps: number;
}

/** Continuation that matches the rest of the pattern from a position. */
type Then = (at: number) => boolean;
type Node = (attempt: Try, at: number, then: Then) => boolean;
/** Returns whether a unit is in a character class. */
type Unit = (unit: number) => boolean;

interface Reader {
  /** Inside `(?<=`, the pattern is matched from right to left. */
  readonly is_backward: boolean;
  readonly flags: string;
}

/** Parses a pattern. Throws an `Error` for constructs that no built-in pattern uses. */
export function compileCountingMatcher({ source, flags }: RegExp): CountingMatcher {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') });
  const node = getAny(pattern.alternatives, { is_backward: false, flags: flags.replace(/[dgy]/g, '') });
  const groups = new RegExp(`${source}|`, flags.replace(/[gy]/g, '')).exec('')!.length;
  return (text, start) => {
    const attempt: Try = { text, spans: new Array(groups * 2).fill(-1), steps: 0 };
    let end: number | null = null;
    node(attempt, start, (at) => {
      end = at;
      return true;
    });
    if (end !== null) attempt.spans.splice(0, 2, start, end);
    return { end, spans: attempt.spans, steps: attempt.steps };
  };
}

function countStep(attempt: Try): void {
  attempt.steps += 1;
  if (attempt.steps > STEPS_MAX) throw new Error(`A try takes more than ${STEPS_MAX} steps.`);
}

function getAny(alternatives: readonly AST.Alternative[], reader: Reader): Node {
  const nodes = alternatives.map(({ elements }) => buildSequenceNode(elements, reader));
  if (nodes.length === 1) return nodes[0]!;
  return (attempt, at, then) =>
    nodes.some((node) => {
      const before = attempt.steps;
      if (node(attempt, at, then)) return true;
      if (attempt.steps === before + 1) attempt.steps = before + COMPARISON;
      return false;
    });
}

function buildSequenceNode(elements: readonly AST.Element[], reader: Reader): Node {
  const nodes = elements.map((element) => getNode(element, reader));
  if (reader.is_backward) nodes.reverse();
  const from = (index: number): Node => {
    const node = nodes[index];
    if (node === undefined) return (_attempt, at, then) => then(at);
    if (index === nodes.length - 1) return node;
    const rest = from(index + 1);
    return (attempt, at, then) => node(attempt, at, (next) => rest(attempt, next, then));
  };
  return from(0);
}

function getNode(element: AST.Element, reader: Reader): Node {
  switch (element.type) {
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet':
      return buildUnitNode(getUnit(element.raw, reader), reader);
    case 'Group':
      if (element.modifiers !== null) throw new Error(`Not counted: ${element.raw}`);
      return getAny(element.alternatives, reader);
    case 'CapturingGroup':
      return buildGroupNode(element, reader);
    case 'Quantifier':
      return repeat(element, reader);
    case 'Assertion':
      return buildAssertionNode(element, reader);
    case 'Backreference':
      return buildBackreferenceNode(element, reader);
    default:
      throw new Error(`Not counted: ${element.raw}`);
  }
}

const units = new Map<string, Unit>();

/** Returns the test for a character class. V8 itself evaluates it; results are cached. */
function getUnit(raw: string, { flags }: Reader): Unit {
  const key = `${flags}/${raw}`;
  const known = units.get(key);
  if (known !== undefined) return known;
  const pattern = new RegExp(`^${raw}$`, flags.replace('m', ''));
  const answers = new Map<number, boolean>();
  const unit: Unit = (code) => {
    const answer = answers.get(code) ?? pattern.test(String.fromCodePoint(code));
    answers.set(code, answer);
    return answer;
  };
  units.set(key, unit);
  return unit;
}

/** Returns the position after one unit (before it in a backward match) if the unit is in the class; otherwise -1. */
function step(attempt: Try, at: number, unit: Unit, { is_backward, flags }: Reader): number {
  countStep(attempt);
  const { text } = attempt;
  const from = is_backward ? at - 1 : at;
  if (from < 0 || from >= text.length) return -1;
  if (!flags.includes('u')) return unit(text.charCodeAt(from)) ? (is_backward ? from : at + 1) : -1;
  const isLow = is_backward && from > 0 && text.codePointAt(from - 1)! > 0xffff;
  const start = isLow ? from - 1 : from;
  const code = text.codePointAt(start)!;
  if (!unit(code)) return -1;
  return is_backward ? start : at + (code > 0xffff ? 2 : 1);
}

function buildUnitNode(unit: Unit, reader: Reader): Node {
  return (attempt, at, then) => {
    const next = step(attempt, at, unit, reader);
    return next !== -1 && then(next);
  };
}

function buildGroupNode(element: AST.CapturingGroup, reader: Reader): Node {
  const node = getAny(element.alternatives, reader);
  const number = getNumber(element);
  return (attempt, at, then) => {
    const { spans } = attempt;
    return node(attempt, at, (next) => {
      const [start, end] = [spans[number * 2]!, spans[number * 2 + 1]!];
      spans[number * 2] = Math.min(at, next);
      spans[number * 2 + 1] = Math.max(at, next);
      if (then(next)) return true;
      spans[number * 2] = start;
      spans[number * 2 + 1] = end;
      return false;
    });
  };
}

/** Returns the number of a group. Groups are numbered in the order in which they open. */
function getNumber(element: AST.CapturingGroup): number {
  let top: AST.Node = element;
  while (top.parent !== null) top = top.parent;
  return listGroups(top).indexOf(element) + 1;
}

function listGroups(node: AST.Node): readonly AST.CapturingGroup[] {
  const own = node.type === 'CapturingGroup' ? [node] : [];
  if (node.type === 'Quantifier') return listGroups(node.element);
  const below = 'alternatives' in node ? node.alternatives : node.type === 'Alternative' ? node.elements : [];
  return [...own, ...(below as readonly AST.Node[]).flatMap(listGroups)];
}

function repeat(element: AST.Quantifier, reader: Reader): Node {
  const inner = element.element;
  const isUnit =
    inner.type === 'Character' || inner.type === 'CharacterClass' || inner.type === 'CharacterSet';
  return isUnit ? repeatUnit(element, getUnit(inner.raw, reader), reader) : repeatNode(element, reader);
}

/** Repeats a single unit. Its recursion depth does not depend on the number of repetitions. */
function repeatUnit({ min, max, greedy }: AST.Quantifier, unit: Unit, reader: Reader): Node {
  return (attempt, start, then) => {
    const places = [start];
    const more = (): boolean => {
      if (places.length > max) return false;
      const next = step(attempt, places.at(-1)!, unit, reader);
      if (next !== -1) places.push(next);
      return next !== -1;
    };
    while (places.length <= min) if (!more()) return false;
    if (!greedy) {
      do {
        if (then(places.at(-1)!)) return true;
      } while (more());
      return false;
    }
    while (more());
    for (; places.length > min; places.pop()) {
      countStep(attempt);
      if (then(places.at(-1)!)) return true;
    }
    return false;
  };
}

function repeatNode({ element, min, max, greedy }: AST.Quantifier, reader: Reader): Node {
  const node = getNode(element, reader);
  const inner = listGroups(element).map(getNumber);
  const turn = (attempt: Try, at: number, done: number, then: Then): boolean => {
    countStep(attempt);
    const again = (): boolean => {
      if (done >= max) return false;
      const before = attempt.spans.slice();
      for (const number of inner) attempt.spans.fill(-1, number * 2, number * 2 + 2);
      // An optional repetition that consumes nothing cannot lead to a match.
      if (node(attempt, at, (next) => (next !== at || done < min) && turn(attempt, next, done + 1, then)))
        return true;
      attempt.spans.splice(0, before.length, ...before);
      return false;
    };
    if (done < min) return again();
    return greedy ? again() || then(at) : then(at) || again();
  };
  return (attempt, at, then) => turn(attempt, at, 0, then);
}

function buildAssertionNode(element: AST.Assertion, reader: Reader): Node {
  if (element.kind === 'lookahead' || element.kind === 'lookbehind')
    return buildLookaroundNode(element, reader);
  const pattern = new RegExp(element.raw, `${reader.flags}y`);
  return (attempt, at, then) => {
    countStep(attempt);
    pattern.lastIndex = at;
    return pattern.test(attempt.text) && then(at);
  };
}

/** Matches a lookaround. Once it has matched, it is not tried in another way. */
function buildLookaroundNode(element: AST.LookaroundAssertion, { flags }: Reader): Node {
  const node = getAny(element.alternatives, { is_backward: element.kind === 'lookbehind', flags });
  return (attempt, at, then) => {
    const before = attempt.spans.slice();
    const isThere = node(attempt, at, () => true);
    if (isThere !== element.negate && then(at)) return true;
    attempt.spans.splice(0, before.length, ...before);
    return false;
  };
}

function buildBackreferenceNode(element: AST.Backreference, { is_backward, flags }: Reader): Node {
  if (is_backward || flags.includes('i')) throw new Error(`Not counted: ${element.raw}`);
  const numbers = [element.resolved].flat().map(getNumber);
  return (attempt, at, then) => {
    const number = numbers.find((each) => attempt.spans[each * 2] !== -1);
    const stated =
      number === undefined
        ? ''
        : attempt.text.slice(attempt.spans[number * 2]!, attempt.spans[number * 2 + 1]!);
    for (let unitsLeft = stated.length; unitsLeft >= 0; unitsLeft--) countStep(attempt);
    return attempt.text.startsWith(stated, at) && then(at + stated.length);
  };
}
