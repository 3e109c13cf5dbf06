import { type Anchor, hasUnit, type UnitSet } from './anchors.ts';

/**
 * All anchors as one deterministic automaton: one table look-up per UTF-16 unit, however many anchors there
 * are. A state is made when a text first reaches it, and kept: nothing is built at the start, and ordinary
 * text uses some hundred of the several thousand states there are. `complete` makes all of them.
 */
export interface Automaton {
  /** The class of each of the 65,536 UTF-16 units. */
  readonly classes: Uint16Array;
  /**
   * Row of a state, plus class, gives the row of the next state, with `ENDING` added where an anchor ends in
   * it; `UNKNOWN` where the way is not worked out yet. It grows: read it anew after `follow`.
   */
  table: Int32Array;
  /** Entries per row. */
  readonly stride: number;
  /** The row at the beginning of a text: as after a line break. */
  readonly start: number;
  /** Per state, which anchors end in it, by number. A state's row is its number times `stride`. */
  readonly endings: (readonly number[])[];
  readonly source: Source;
}

/** Rows stay below it, so that one comparison tells a scan that there is something to do. */
export const ENDING = 2 ** 28;
export const UNKNOWN = 2 ** 29;

/** What states are made of: sets of trie nodes. The root is in each of them and left out. */
interface Source {
  readonly nodes: readonly Node[];
  /** 1 at `set * class_count + class` where the set holds the class. */
  readonly holds: Uint8Array;
  readonly class_count: number;
  readonly nodes_of: (readonly number[])[];
  readonly state_of: Map<string, number>;
}

interface Node {
  /** Sets of units and the nodes behind them, by turns: there are tens of thousands of nodes, most with one edge. */
  readonly edges: number[];
  endings: readonly number[];
}

const NONE: readonly number[] = [];

const CLASSES_MAX = 2048;
const FIRST_STATES = 256;
const LINE_BREAK = 10;

/** The automaton of the given anchors; `endings` name them by their place in the list. */
export function makeAutomaton(anchors: readonly Anchor[]): Automaton {
  const sets = distinctSets(anchors);
  const nodes = trie(anchors, sets);
  const { classes, class_count, holds } = partition([...sets.values()].map(({ set }) => set));
  const stride = 2 ** Math.ceil(Math.log2(Math.max(class_count, 2)));
  const source: Source = { nodes, holds, class_count, nodes_of: [], state_of: new Map() };
  const table = new Int32Array(FIRST_STATES * stride).fill(UNKNOWN);
  const automaton = { classes, table, stride, start: 0, endings: [], source };
  stateOf(automaton, []);
  return { ...automaton, start: follow(automaton, 0, classes[LINE_BREAK]!) };
}

/** Works out the way from a state's row by a class; the entry of the table. */
export function follow(automaton: Automaton, row: number, unit_class: number): number {
  const { nodes, holds, class_count, nodes_of } = automaton.source;
  const targets = new Set<number>();
  const addTargets = (node: number): void => {
    const { edges } = nodes[node]!;
    for (let at = 0; at < edges.length; at += 2) {
      if (holds[edges[at]! * class_count + unit_class] === 1) targets.add(edges[at + 1]!);
    }
  };
  addTargets(0);
  nodes_of[row / automaton.stride]!.forEach(addTargets);
  const state = stateOf(automaton, [...targets]);
  const is_ending = automaton.endings[state]!.length > 0;
  const entry = state * automaton.stride + (is_ending ? ENDING : 0);
  automaton.table[row + unit_class] = entry;
  return entry;
}

/** Makes every state that any text can reach, and returns how many there are. */
export function complete(automaton: Automaton): number {
  const { source, stride } = automaton;
  for (let state = 0; state < source.nodes_of.length; state++) {
    for (let c = 0; c < source.class_count; c++) {
      if (automaton.table[state * stride + c] === UNKNOWN) follow(automaton, state * stride, c);
    }
  }
  return source.nodes_of.length;
}

function stateOf(automaton: Automaton, nodes: number[]): number {
  const { source, endings, stride } = automaton;
  nodes.sort((a, b) => a - b);
  const key = nodes.join();
  const known = source.state_of.get(key);
  if (known !== undefined) return known;
  const state = source.nodes_of.push(nodes) - 1;
  source.state_of.set(key, state);
  endings.push(nodes.flatMap((node) => source.nodes[node]!.endings));
  if ((state + 1) * stride > automaton.table.length) automaton.table = doubled(automaton.table);
  return state;
}

function doubled(table: Int32Array): Int32Array {
  const larger = new Int32Array(table.length * 2).fill(UNKNOWN);
  larger.set(table);
  return larger;
}

type SetIndex = ReadonlyMap<string, { readonly index: number; readonly set: UnitSet }>;

function distinctSets(anchors: readonly Anchor[]): SetIndex {
  const sets = new Map<string, { readonly index: number; readonly set: UnitSet }>();
  for (const set of anchors.flatMap((anchor) => anchor.sets)) {
    const key = setKey(set);
    if (!sets.has(key)) sets.set(key, { index: sets.size, set });
  }
  return sets;
}

const keys = new WeakMap<UnitSet, string>();

/** Most sets are the same few objects. */
function setKey(set: UnitSet): string {
  const known = keys.get(set);
  if (known !== undefined) return known;
  const key = set.join(';');
  keys.set(set, key);
  return key;
}

/** Anchors that begin alike share nodes. Node 0 is the root. */
function trie(anchors: readonly Anchor[], sets: SetIndex): readonly Node[] {
  const nodes: Node[] = [{ edges: [], endings: NONE }];
  const children = new Map<number, number>();
  anchors.forEach((anchor, number) => {
    let at = 0;
    for (const each of anchor.sets) {
      const set = sets.get(setKey(each))!.index;
      const edge = at * sets.size + set;
      const to = children.get(edge) ?? nodes.push({ edges: [], endings: NONE }) - 1;
      if (!children.has(edge)) nodes[at]!.edges.push(set, to);
      children.set(edge, to);
      at = to;
    }
    nodes[at]!.endings = [...nodes[at]!.endings, number];
  });
  return nodes;
}

/** Splits all units into classes that no set tells apart. */
function partition(sets: readonly UnitSet[]): {
  classes: Uint16Array;
  class_count: number;
  holds: Uint8Array;
} {
  const edges = new Set(sets.flatMap((set) => set.flatMap(([low, high]) => [low, high + 1])));
  const bounds = [...edges.add(0)].filter((at) => at <= 0xffff).sort((a, b) => a - b);
  const classes = new Uint16Array(0x10000);
  const known = new Map<string, number>();
  const members: (readonly number[])[] = [];
  bounds.forEach((low, at) => {
    const holding = sets.flatMap((set, index) => (hasUnit(set, low) ? [index] : []));
    const key = holding.join();
    if (!known.has(key)) known.set(key, members.push(holding) - 1);
    classes.fill(known.get(key)!, low, bounds[at + 1] ?? 0x10000);
  });
  if (members.length > CLASSES_MAX) throw new Error(`the anchors need more than ${CLASSES_MAX} classes`);
  const holds = new Uint8Array(sets.length * members.length);
  members.forEach((holding, c) => {
    for (const set of holding) holds[set * members.length + c] = 1;
  });
  return { classes, class_count: members.length, holds };
}
