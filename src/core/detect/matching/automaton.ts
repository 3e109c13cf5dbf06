import { anchorsAt, childrenAt, leadsTo, type Trie } from './trie.ts';

/**
 * All anchors as one deterministic automaton: one table look-up per UTF-16 unit, however many anchors there
 * are. A state is created when a text first reaches it, and kept while the table has space: ordinary text uses some
 * hundred of the hundreds of thousands of possible states. When the table is full, it is cleared.
 */
export interface Automaton {
  /**
   * At `state << ASCII_BITS | unit` the next state, with `ENDING` added where an anchor ends in it; 0 where the
   * way is not worked out yet.
   */
  readonly table: Uint16Array;
  /** The same for units beyond ASCII, at `state << wide_bits | class`. */
  readonly wide: Uint16Array;
  readonly wide_bits: number;
  /** The class of each of the 65,536 units. */
  readonly classes: Uint16Array;
  /** The state at the beginning of a text: as after a line break. It keeps its number. */
  readonly start: number;
  readonly trie: Trie;
  /** Per state, the nodes that a text may have reached (without the root, which is in each state), and their endings. */
  readonly nodes_of: (readonly number[])[];
  readonly endings: (readonly number[])[];
  /** Hash table from nodes to the number of their state; 0 if there is none. */
  readonly by_nodes: Uint16Array;
  /** Per class, the nodes that every state leads to. */
  readonly from_root: (readonly number[] | undefined)[];
  /** Number of computed transitions. */
  readonly made: { ways: number };
}

export const ASCII_BITS = 7;
export const ASCII_UNITS = 1 << ASCII_BITS;
export const ENDING = 0x8000;
/** The bits of an entry that are its state. */
export const STATE = 0x7fff;

/** 256 bytes of table each. */
const STATES_MAX = 32_768;
const LINE_BREAK = 10;
const ROOT: readonly number[] = [];

/** The automaton of the anchors of a tree, without states but the first. */
export function makeAutomaton(trie: Trie, states_max = STATES_MAX): Automaton {
  const wide_bits = Math.ceil(Math.log2(trie.wide_count));
  const automaton: Automaton = {
    table: new Uint16Array(states_max << ASCII_BITS),
    wide: new Uint16Array(states_max << wide_bits),
    wide_bits,
    classes: trie.classes,
    start: 0,
    trie,
    nodes_of: [],
    endings: [],
    by_nodes: new Uint16Array(2 * states_max),
    from_root: new Array<readonly number[] | undefined>(trie.class_count),
    made: { ways: 0 },
  };
  return { ...automaton, start: begin(automaton) };
}

/** Reserves space for more states. If there is too little, clears the table, and state numbers get new meanings. */
export function makeRoom(automaton: Automaton, states: number): void {
  const { table, wide, wide_bits, by_nodes, nodes_of } = automaton;
  const count = nodes_of.length;
  if ((count + states) << ASCII_BITS <= table.length) return;
  table.fill(0, 0, count << ASCII_BITS);
  wide.fill(0, 0, count << wide_bits);
  by_nodes.fill(0);
  begin(automaton);
}

/** Makes the first states; returns the one at the beginning of a text. */
function begin(automaton: Automaton): number {
  automaton.nodes_of.length = 0;
  automaton.endings.length = 0;
  // No state has the number 0, which says that a way is not worked out.
  automaton.nodes_of.push(ROOT);
  automaton.endings.push(ROOT);
  return follow(automaton, stateOf(automaton, ROOT), LINE_BREAK) & STATE;
}

/** Computes the transition from a state by a unit and returns its table entry. Needs space for one more state. */
export function follow(automaton: Automaton, state: number, unit: number): number {
  const { trie, nodes_of, classes, from_root, made } = automaton;
  made.ways += 1;
  const unit_class = classes[unit]!;
  from_root[unit_class] ??= nodesBehind(trie, [0], unit_class, []);
  const targets = nodesBehind(trie, nodes_of[state]!, unit_class, from_root[unit_class].slice());
  const next = stateOf(automaton, targets);
  const entry = automaton.endings[next]!.length > 0 ? next | ENDING : next;
  if (unit < ASCII_UNITS) automaton.table[(state << ASCII_BITS) + unit] = entry;
  else automaton.wide[(state << automaton.wide_bits) + unit_class] = entry;
  return entry;
}

/** Adds the nodes behind some, by a class of units, to `targets`. */
function nodesBehind(
  trie: Trie,
  nodes: readonly number[],
  unit_class: number,
  targets: number[],
): readonly number[] {
  for (const node of nodes) {
    for (const next of childrenAt(trie, node)) if (leadsTo(trie, next, unit_class)) targets.push(next);
  }
  return targets;
}

/**
 * The state of these nodes. They come in one order whatever the way: those behind the root first, and then in the
 * order of the nodes before them.
 */
export function stateOf(automaton: Automaton, nodes: readonly number[]): number {
  const { nodes_of, endings, by_nodes, trie } = automaton;
  let place = hashOf(nodes) % by_nodes.length;
  for (let state = by_nodes[place]!; state !== 0; state = by_nodes[place]!) {
    if (areSame(nodes_of[state]!, nodes)) return state;
    place = (place + 1) % by_nodes.length;
  }
  const state = nodes_of.push(nodes) - 1;
  by_nodes[place] = state;
  endings.push(endingsOf(trie, nodes));
  return state;
}

/** The anchors that end at some nodes, in the order of the nodes' numbers. */
function endingsOf(trie: Trie, nodes: readonly number[]): readonly number[] {
  const ending = nodes.filter((node) => anchorsAt(trie, node).length > 0);
  if (ending.length === 0) return ROOT;
  return ending.sort((a, b) => a - b).flatMap((node) => anchorsAt(trie, node));
}

function hashOf(nodes: readonly number[]): number {
  let hash = nodes.length;
  for (let at = 0; at < nodes.length; at++) {
    hash = Math.imul(hash ^ nodes[at]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

function areSame(some: readonly number[], others: readonly number[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false;
  return true;
}
