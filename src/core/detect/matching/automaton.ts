import { acceptsClass, getAnchors, getChildren, type Trie } from './trie.ts';

/**
 * All anchors as one deterministic automaton: one table lookup per UTF-16 unit, whatever the number of anchors. A
 * state is created when a text first reaches it, and is kept while there is space. Ordinary text uses some hundred of
 * the possible hundreds of thousands of states. When the table is full, all states are created again.
 */
export interface Automaton {
  /**
   * The next state at `state << ASCII_BITS | unit`, with `ENDING_BIT` set if an anchor ends in it; 0 if the
   * transition is not computed yet. Replaced by a larger table when states need more space.
   */
  table: Uint16Array;
  /** The same for units beyond ASCII, at `state << wide_bits | class`. */
  wide: Uint16Array;
  /** The most states. */
  readonly states_max: number;
  readonly wide_bits: number;
  /** The class of each of the 65,536 units. */
  readonly classes: Uint16Array;
  /** The state at the start of a text, which equals the state after a line break. Its number never changes. */
  readonly start: number;
  readonly trie: Trie;
  /**
   * Per state, the tree nodes that the text can be at (without the root, which is in every state), and the anchors
   * that end there.
   */
  readonly nodes_of: (readonly number[])[];
  readonly endings: (readonly number[])[];
  /** Hash table from a set of nodes to its state number; 0 if there is none. */
  readonly by_nodes: Uint16Array;
  /** Per class, the child nodes of the root. */
  readonly from_root: (readonly number[] | undefined)[];
  /** The number of transitions computed so far. */
  readonly computed: { transitions: number };
}

export const ASCII_BITS = 7;
export const ASCII_UNITS = 1 << ASCII_BITS;
export const ENDING_BIT = 0x8000;
/** The bits of a table entry that are its state. */
export const STATE_MASK = 0x7fff;

/** Each state takes 256 bytes of table, and 2 KB of the one for units beyond ASCII. */
const STATES_MAX = 32_768;
/**
 * The space at the start, enough for a command. The full tables have 72 MB: the system gives only the pages that are
 * used, but the engine collects garbage because of the size.
 */
const FIRST_STATES = 1024;
const LINE_BREAK = 10;
const ROOT: readonly number[] = [];

/** Creates the automaton of the anchors of a tree, with only its first states. */
export function createAutomaton(trie: Trie, statesMax = STATES_MAX): Automaton {
  const wideBits = Math.ceil(Math.log2(trie.wide_count));
  const states = Math.min(FIRST_STATES, statesMax);
  const automaton: Automaton = {
    table: new Uint16Array(states << ASCII_BITS),
    wide: new Uint16Array(states << wideBits),
    states_max: statesMax,
    wide_bits: wideBits,
    classes: trie.classes,
    start: 0,
    trie,
    nodes_of: [],
    endings: [],
    by_nodes: new Uint16Array(2 * statesMax),
    from_root: new Array<readonly number[] | undefined>(trie.class_count),
    computed: { transitions: 0 },
  };
  return { ...automaton, start: createFirstStates(automaton) };
}

/**
 * Reserves space for a number of states. If there can be too little, all states are created again and state numbers
 * change meaning.
 */
export function reserveStates(automaton: Automaton, states: number): void {
  const { wide_bits, by_nodes, nodes_of, states_max } = automaton;
  const count = nodes_of.length;
  if (hasSpace(automaton, count + states)) return;
  if (count + states > states_max) {
    automaton.table.fill(0, 0, count << ASCII_BITS);
    automaton.wide.fill(0, 0, count << wide_bits);
    by_nodes.fill(0);
    createFirstStates(automaton);
  }
  growTables(automaton, nodes_of.length + states);
}

function hasSpace({ table }: Automaton, states: number): boolean {
  return states << ASCII_BITS <= table.length;
}

/** Replaces the tables by larger ones if they have no space for a number of states. */
function growTables(automaton: Automaton, states: number): void {
  if (hasSpace(automaton, states)) return;
  const { table, wide, wide_bits, states_max } = automaton;
  const space = Math.min(2 ** Math.ceil(Math.log2(states)), states_max);
  automaton.table = new Uint16Array(space << ASCII_BITS);
  automaton.table.set(table);
  automaton.wide = new Uint16Array(space << wide_bits);
  automaton.wide.set(wide);
}

/** Creates the first states; returns the one at the start of a text. */
function createFirstStates(automaton: Automaton): number {
  automaton.nodes_of.length = 0;
  automaton.endings.length = 0;
  // No state has the number 0, because 0 means that a transition is not computed.
  automaton.nodes_of.push(ROOT);
  automaton.endings.push(ROOT);
  return computeTransition(automaton, findState(automaton, ROOT), LINE_BREAK) & STATE_MASK;
}

/**
 * Computes the transition from a state by a unit; returns its table entry. The caller reserves space for one state
 * first.
 */
export function computeTransition(automaton: Automaton, state: number, unit: number): number {
  const { trie, nodes_of, classes, from_root, computed } = automaton;
  computed.transitions += 1;
  const unitClass = classes[unit]!;
  from_root[unitClass] ??= addChildNodes(trie, [0], unitClass, []);
  const targets = addChildNodes(trie, nodes_of[state]!, unitClass, from_root[unitClass].slice());
  const next = findState(automaton, targets);
  const entry = automaton.endings[next]!.length > 0 ? next | ENDING_BIT : next;
  if (unit < ASCII_UNITS) automaton.table[(state << ASCII_BITS) + unit] = entry;
  else automaton.wide[(state << automaton.wide_bits) + unitClass] = entry;
  return entry;
}

/** Adds the child nodes of some nodes, by a class of units, to `targets`. */
function addChildNodes(
  trie: Trie,
  nodes: readonly number[],
  unitClass: number,
  targets: number[],
): readonly number[] {
  for (const node of nodes) {
    for (const next of getChildren(trie, node)) if (acceptsClass(trie, next, unitClass)) targets.push(next);
  }
  return targets;
}

/**
 * Returns the state of these nodes. Their order does not depend on the path: children of the root first, then the
 * children of the other nodes in the order of their parents.
 */
export function findState(automaton: Automaton, nodes: readonly number[]): number {
  const { nodes_of, endings, by_nodes, trie } = automaton;
  let place = getHash(nodes) % by_nodes.length;
  for (let state = by_nodes[place]!; state !== 0; state = by_nodes[place]!) {
    if (areSame(nodes_of[state]!, nodes)) return state;
    place = (place + 1) % by_nodes.length;
  }
  const state = nodes_of.push(nodes) - 1;
  by_nodes[place] = state;
  endings.push(collectEndings(trie, nodes));
  return state;
}

/** Returns the anchors that end at some nodes, in the order of node numbers. */
function collectEndings(trie: Trie, nodes: readonly number[]): readonly number[] {
  const ending = nodes.filter((node) => getAnchors(trie, node).length > 0);
  if (ending.length === 0) return ROOT;
  return ending.sort((a, b) => a - b).flatMap((node) => getAnchors(trie, node));
}

function getHash(nodes: readonly number[]): number {
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
