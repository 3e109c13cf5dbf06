import type { UnitSet } from './anchors.ts';
import { CONTEXT_UNITS, type Fineness, type Head } from './heads.ts';

/**
 * Many heads as one deterministic automaton: one look-up per UTF-16 unit, however many there are. It is whole:
 * all states are made before the first text, and their number has a limit.
 */
export interface Automaton {
  /** The class of each symbol (see `symbolsOfUnits`). */
  readonly classes: Uint8Array;
  /** At `state << CLASS_BITS | class` the next state, with `ENDING` where a head ends in it. State 0 knows nothing. */
  readonly table: Uint16Array;
  /** Per state, where its part of `endings` begins; that of the next state is its end. */
  readonly endings_from: Uint16Array;
  /** Which heads end in a state, by number. */
  readonly endings: Uint16Array;
}

export const CLASS_BITS = 7;
export const ENDING = 0x8000;
/** The bits of an entry that are its state. */
export const STATE = 0x7fff;

const CLASSES_MAX = 1 << CLASS_BITS;
/** 2 MB of table for each 8,192. */
const STATES_MAX = 32_767;
const ASCII_UNITS = 128;
export const SYMBOLS_MAX = 256;
/** Behind it ideograms are, in blocks of 256. */
const LETTERS_END = 0x3000;
const BACKSLASH: UnitSet = [[92, 92]];
const ESCAPE_LETTERS: UnitSet = [
  [110, 110],
  [114, 114],
  [116, 116],
];

/** The states of an automaton are sets of these. The root, number 0, is in each of them and left out. */
interface Node {
  readonly edges: { readonly set: number; readonly to: number }[];
  readonly endings: number[];
}

/**
 * The automaton of the heads of one kind, which keep their numbers; `null` where it would take more states or
 * classes than there may be.
 */
export function makeAutomaton(
  heads: readonly Head[],
  kind: Head['kind'],
  symbols: Uint8Array,
): Automaton | null {
  const { nodes, sets } = graphOf(heads, kind, symbols);
  const { classes, members } = partition(sets);
  if (members.length > CLASSES_MAX) return null;
  const states = statesOf(nodes, members, sets.length);
  if (states === null) return null;
  const ended = states.sets.map((nodes_of) =>
    nodes_of.flatMap((node) => nodes[node]!.endings).sort((a, b) => a - b),
  );
  const table = new Uint16Array(states.rows.length << CLASS_BITS);
  states.rows.forEach((row, state) => {
    row.forEach((next, c) => {
      table[(state << CLASS_BITS) + c] = ended[next]!.length > 0 ? next | ENDING : next;
    });
  });
  return { classes, table, ...flatEndings(ended) };
}

/** The endings of all states as two lists. */
export function flatEndings(
  ended: readonly (readonly number[])[],
): Pick<Automaton, 'endings' | 'endings_from'> {
  const endings_from = new Uint16Array(ended.length + 1);
  ended.forEach((heads, state) => {
    endings_from[state + 1] = endings_from[state]! + heads.length;
  });
  return { endings_from, endings: Uint16Array.from(ended.flat()) };
}

/** Heads that begin alike share nodes; those of one context begin where it leads to. */
function graphOf(
  heads: readonly Head[],
  kind: Head['kind'],
  symbols: Uint8Array,
): { nodes: readonly Node[]; sets: readonly (readonly number[])[] } {
  const nodes: Node[] = [];
  const sets: (readonly number[])[] = [];
  const set_of = new Map<string, number>();
  const children = new Map<string, number>();
  const addNode = (): number => nodes.push({ edges: [], endings: [] }) - 1;
  const addSet = (exact: UnitSet): number => {
    const known = set_of.get(exact.join());
    if (known !== undefined) return known;
    const set = symbolsOf(exact, symbols);
    const index = set_of.get(`= ${set.join()}`) ?? sets.push(set) - 1;
    set_of.set(exact.join(), index);
    set_of.set(`= ${set.join()}`, index);
    return index;
  };
  const addEdge = (from: number, set: number, to: number): number => {
    nodes[from]!.edges.push({ set, to });
    return to;
  };
  const starts = { any: addNode(), no_letter: addNode(), no_word: addNode() };
  const escaped = addEdge(starts.any, addSet(BACKSLASH), addNode());
  for (const context of ['no_letter', 'no_word'] as const) {
    if (!heads.some((head) => head.kind === kind && head.context === context)) continue;
    addEdge(starts.any, addSet(CONTEXT_UNITS[context]), starts[context]);
    addEdge(escaped, addSet(ESCAPE_LETTERS), starts[context]);
  }
  heads.forEach((head, number) => {
    if (head.kind !== kind) return;
    let at = starts[head.context];
    for (const set of head.sets.map(addSet)) {
      const key = `${at} ${set}`;
      const to = children.get(key) ?? addEdge(at, set, addNode());
      children.set(key, to);
      at = to;
    }
    nodes[at]!.endings.push(number);
  });
  return { nodes, sets };
}

/**
 * What automata tell apart, by unit: each of ASCII, and beyond it blocks of 16 units, of which those are
 * taken for one that are far from each other: a text is in one alphabet, and twenty would take hundreds of
 * classes. Units that are an anchor by themselves are told apart from all others.
 */
export function symbolsOfUnits(heads: readonly Head[], { beyond_ascii }: Fineness): Uint8Array {
  const symbols = new Uint8Array(0x10000);
  for (let unit = 0; unit < symbols.length; unit++) {
    const block = unit < LETTERS_END ? unit >> 4 : beyond_ascii + ((unit >> 8) & (beyond_ascii - 1));
    symbols[unit] =
      unit < ASCII_UNITS ? unit : ASCII_UNITS + (unit < LETTERS_END ? block & (beyond_ascii - 1) : block);
  }
  let next = ASCII_UNITS + 2 * beyond_ascii;
  for (const { sets } of heads) {
    if (sets.length > 1 || sets[0]![0]![0] < ASCII_UNITS || next === SYMBOLS_MAX) continue;
    for (const [low, high] of sets[0]!) symbols.fill(next, low, high + 1);
    next += 1;
  }
  return symbols;
}

/** The symbols of a set, ascending. */
function symbolsOf(set: UnitSet, symbols: Uint8Array): readonly number[] {
  const found = new Uint8Array(SYMBOLS_MAX);
  for (const [low, high] of set) {
    for (let unit = low; unit <= high; unit++) found[symbols[unit]!] = 1;
  }
  return [...found.keys()].filter((symbol) => found[symbol] === 1);
}

/** Splits all symbols into classes that no set tells apart; per class the sets that hold it. */
function partition(sets: readonly (readonly number[])[]): {
  classes: Uint8Array;
  members: readonly (readonly number[])[];
} {
  const holding: number[][] = Array.from({ length: SYMBOLS_MAX }, () => []);
  sets.forEach((symbols_of, set) => {
    for (const symbol of symbols_of) holding[symbol]!.push(set);
  });
  const known = new Map<string, number>();
  const members: (readonly number[])[] = [];
  const classes = Uint8Array.from(holding, (each) => {
    const c = known.get(each.join()) ?? members.push(each) - 1;
    known.set(each.join(), c);
    return c;
  });
  return { classes, members };
}

interface States {
  readonly sets: readonly (readonly number[])[];
  readonly rows: readonly Uint16Array[];
}

/** Every state that any text can reach, in the order in which rows from the first on lead to them; `null` where there are too many. */
function statesOf(
  nodes: readonly Node[],
  members: readonly (readonly number[])[],
  set_count: number,
): States | null {
  const classes_of: number[][] = Array.from({ length: set_count }, () => []);
  members.forEach((holding, c) => {
    for (const set of holding) classes_of[set]!.push(c);
  });
  const sets: (readonly number[])[] = [];
  const known = new Map<string, number>();
  const stateOf = (targets: Iterable<number>): number => {
    const sorted = [...new Set(targets)].sort((a, b) => a - b);
    const key = sorted.join();
    const state = known.get(key) ?? sets.push(sorted) - 1;
    known.set(key, state);
    return state;
  };
  stateOf([]);
  const always = targetsOf([0], nodes, classes_of);
  const usual = members.map((_, c) => stateOf(always.get(c) ?? []));
  const rows: Uint16Array[] = [];
  for (let state = 0; state < sets.length; state++) {
    if (sets.length > STATES_MAX) return null;
    const row = Uint16Array.from(usual);
    const targets = targetsOf(sets[state]!, nodes, classes_of);
    for (const c of [...targets.keys()].sort((a, b) => a - b))
      row[c] = stateOf([...(always.get(c) ?? []), ...targets.get(c)!]);
    rows.push(row);
  }
  return { sets, rows };
}

/** Per class, where the nodes' edges lead. */
function targetsOf(
  from: readonly number[],
  nodes: readonly Node[],
  classes_of: readonly (readonly number[])[],
): ReadonlyMap<number, readonly number[]> {
  const targets = new Map<number, number[]>();
  for (const { set, to } of from.flatMap((node) => nodes[node]!.edges)) {
    for (const c of classes_of[set]!) {
      const known = targets.get(c);
      if (known === undefined) targets.set(c, [to]);
      else known.push(to);
    }
  }
  return targets;
}
