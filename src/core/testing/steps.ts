/**
 * A matcher that counts: it reads a pattern as V8 does, tries what V8 tries in the same order, and counts one step
 * for each unit that it compares, each turn of a repeat and each way back. Time on a machine says nothing in a
 * test; steps say the same everywhere. Slow, and for tests and benchmarks alone.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/** What came of one try: where the match ends and where its groups are, or `null`; and the steps until then. */
export interface CountedMatch {
  readonly end: number | null;
  /** Start and end of each group by number, that of the whole first; -1 where a group took no part. */
  readonly spans: readonly number[];
  readonly steps: number;
}

/** Tries the pattern at one place of a text, as a sticky pattern is tried. */
export type CountingMatcher = (text: string, start: number) => CountedMatch;

/** A pattern that takes more is no pattern that one can wait for. */
const STEPS_MAX = 20_000_000;

/**
 * What an alternative costs whose first unit is another one: V8 loads the unit once for all of them and compares.
 * Measured: 0.15 to 0.4 ns where a step of a repeat takes about 1 ns.
 */
const COMPARISON = 0.25;

/** One try while it runs. */
interface Try {
  readonly text: string;
  readonly spans: number[];
  steps: number;
}

/** What is to match behind a node, from this place on. */
type Then = (at: number) => boolean;
type Node = (attempt: Try, at: number, then: Then) => boolean;
/** Whether one unit is in a class. */
type Unit = (unit: number) => boolean;

interface Reader {
  /** Behind `(?<=` a pattern is read from its end. */
  readonly is_backward: boolean;
  readonly flags: string;
}

/** Reads a pattern; throws an `Error` where it has what no built-in pattern needs. */
export function compileCountingMatcher({ source, flags }: RegExp): CountingMatcher {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') });
  const node = anyOf(pattern.alternatives, { is_backward: false, flags: flags.replace(/[dgy]/g, '') });
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

function count(attempt: Try): void {
  attempt.steps += 1;
  if (attempt.steps > STEPS_MAX) throw new Error(`A try takes more than ${STEPS_MAX} steps.`);
}

function anyOf(alternatives: readonly AST.Alternative[], reader: Reader): Node {
  const nodes = alternatives.map(({ elements }) => inTurn(elements, reader));
  if (nodes.length === 1) return nodes[0]!;
  return (attempt, at, then) =>
    nodes.some((node) => {
      const before = attempt.steps;
      if (node(attempt, at, then)) return true;
      if (attempt.steps === before + 1) attempt.steps = before + COMPARISON;
      return false;
    });
}

function inTurn(elements: readonly AST.Element[], reader: Reader): Node {
  const nodes = elements.map((element) => nodeOf(element, reader));
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

function nodeOf(element: AST.Element, reader: Reader): Node {
  switch (element.type) {
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet':
      return one(unitOf(element.raw, reader), reader);
    case 'Group':
      if (element.modifiers !== null) throw new Error(`Not counted: ${element.raw}`);
      return anyOf(element.alternatives, reader);
    case 'CapturingGroup':
      return group(element, reader);
    case 'Quantifier':
      return repeat(element, reader);
    case 'Assertion':
      return assertion(element, reader);
    case 'Backreference':
      return backreference(element, reader);
    default:
      throw new Error(`Not counted: ${element.raw}`);
  }
}

const units = new Map<string, Unit>();

/** V8 itself says what is in a class; each answer is kept. */
function unitOf(raw: string, { flags }: Reader): Unit {
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

/** The place behind one unit (in a backward reading, before it) that is in the class; -1 where it is not. */
function step(attempt: Try, at: number, unit: Unit, { is_backward, flags }: Reader): number {
  count(attempt);
  const { text } = attempt;
  const from = is_backward ? at - 1 : at;
  if (from < 0 || from >= text.length) return -1;
  if (!flags.includes('u')) return unit(text.charCodeAt(from)) ? (is_backward ? from : at + 1) : -1;
  const is_low = is_backward && from > 0 && text.codePointAt(from - 1)! > 0xffff;
  const start = is_low ? from - 1 : from;
  const code = text.codePointAt(start)!;
  if (!unit(code)) return -1;
  return is_backward ? start : at + (code > 0xffff ? 2 : 1);
}

function one(unit: Unit, reader: Reader): Node {
  return (attempt, at, then) => {
    const next = step(attempt, at, unit, reader);
    return next !== -1 && then(next);
  };
}

function group(element: AST.CapturingGroup, reader: Reader): Node {
  const node = anyOf(element.alternatives, reader);
  const number = numberOf(element);
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

/** Groups have their numbers in the order in which they open. */
function numberOf(element: AST.CapturingGroup): number {
  let top: AST.Node = element;
  while (top.parent !== null) top = top.parent;
  return groupsIn(top).indexOf(element) + 1;
}

function groupsIn(node: AST.Node): readonly AST.CapturingGroup[] {
  const own = node.type === 'CapturingGroup' ? [node] : [];
  if (node.type === 'Quantifier') return groupsIn(node.element);
  const below = 'alternatives' in node ? node.alternatives : node.type === 'Alternative' ? node.elements : [];
  return [...own, ...(below as readonly AST.Node[]).flatMap(groupsIn)];
}

function repeat(element: AST.Quantifier, reader: Reader): Node {
  const inner = element.element;
  const is_unit =
    inner.type === 'Character' || inner.type === 'CharacterClass' || inner.type === 'CharacterSet';
  return is_unit ? repeatUnit(element, unitOf(inner.raw, reader), reader) : repeatNode(element, reader);
}

/** A run of units: no deeper for a longer one. */
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
      count(attempt);
      if (then(places.at(-1)!)) return true;
    }
    return false;
  };
}

function repeatNode({ element, min, max, greedy }: AST.Quantifier, reader: Reader): Node {
  const node = nodeOf(element, reader);
  const inner = groupsIn(element).map(numberOf);
  const turn = (attempt: Try, at: number, done: number, then: Then): boolean => {
    count(attempt);
    const again = (): boolean => {
      if (done >= max) return false;
      const before = attempt.spans.slice();
      for (const number of inner) attempt.spans.fill(-1, number * 2, number * 2 + 2);
      // A turn that takes nothing, beyond those that there must be, leads nowhere.
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

function assertion(element: AST.Assertion, reader: Reader): Node {
  if (element.kind === 'lookahead' || element.kind === 'lookbehind') return look(element, reader);
  const pattern = new RegExp(element.raw, `${reader.flags}y`);
  return (attempt, at, then) => {
    count(attempt);
    pattern.lastIndex = at;
    return pattern.test(attempt.text) && then(at);
  };
}

/** What stands ahead or behind; once it is there, it is not looked for in another way. */
function look(element: AST.LookaroundAssertion, { flags }: Reader): Node {
  const node = anyOf(element.alternatives, { is_backward: element.kind === 'lookbehind', flags });
  return (attempt, at, then) => {
    const before = attempt.spans.slice();
    const is_there = node(attempt, at, () => true);
    if (is_there !== element.negate && then(at)) return true;
    attempt.spans.splice(0, before.length, ...before);
    return false;
  };
}

function backreference(element: AST.Backreference, { is_backward, flags }: Reader): Node {
  if (is_backward || flags.includes('i')) throw new Error(`Not counted: ${element.raw}`);
  const numbers = [element.resolved].flat().map(numberOf);
  return (attempt, at, then) => {
    const number = numbers.find((each) => attempt.spans[each * 2] !== -1);
    const said =
      number === undefined
        ? ''
        : attempt.text.slice(attempt.spans[number * 2]!, attempt.spans[number * 2 + 1]!);
    for (let units_left = said.length; units_left >= 0; units_left--) count(attempt);
    return attempt.text.startsWith(said, at) && then(at + said.length);
  };
}
