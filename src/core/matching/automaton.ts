import { type Anchor, hasUnit, type UnitSet } from './anchors.ts';

/**
 * All anchors as one deterministic automaton: one table look-up per UTF-16 unit, however many anchors there
 * are. Plain numbers, so that a table can be made ahead of time and loaded.
 */
export interface Automaton {
  /** The class of each of the 65,536 UTF-16 units. */
  readonly classes: Uint8Array;
  /** Row of a state, plus class, gives the row of the next state. */
  readonly table: Int32Array;
  /** Entries per row. */
  readonly stride: number;
  /** The row at the beginning of a text: as after a line break. */
  readonly start: number;
  /** Rows from here on are states in which at least one anchor ends. */
  readonly accept_from: number;
  /** For accepting states, in order of their rows: which anchors end there, by number. */
  readonly endings: readonly (readonly number[])[];
}

interface Node {
  readonly edges: { readonly set: number; readonly to: number }[];
  readonly endings: number[];
}

const CLASSES_MAX = 255;

/** Builds the automaton of the given anchors by subset construction. */
export function buildAutomaton(anchors: readonly Anchor[]): Automaton {
  const sets = distinctSets(anchors);
  const nodes = trie(anchors, sets);
  const { classes, members } = partition([...sets.values()].map(({ set }) => set));
  const rows = subsets(nodes, members);
  return number(rows, classes, members.length);
}

type SetIndex = Map<string, { readonly index: number; readonly set: UnitSet }>;

function distinctSets(anchors: readonly Anchor[]): SetIndex {
  const sets: SetIndex = new Map();
  for (const anchor of anchors) {
    for (const set of anchor.sets) {
      const key = setKey(set);
      if (!sets.has(key)) sets.set(key, { index: sets.size, set });
    }
  }
  return sets;
}

function setKey(set: UnitSet): string {
  return set.join(';');
}

/** Anchors that begin alike share nodes. Node 0 is the root. */
function trie(anchors: readonly Anchor[], sets: SetIndex): readonly Node[] {
  const nodes: Node[] = [{ edges: [], endings: [] }];
  anchors.forEach((anchor, number) => {
    let at = 0;
    for (const set of anchor.sets) at = follow(nodes, at, sets.get(setKey(set))!.index);
    nodes[at]!.endings.push(number);
  });
  return nodes;
}

function follow(nodes: Node[], from: number, set: number): number {
  const edges = nodes[from]!.edges;
  const known = edges.find((edge) => edge.set === set);
  if (known !== undefined) return known.to;
  const to = nodes.push({ edges: [], endings: [] }) - 1;
  edges.push({ set, to });
  return to;
}

/** Splits all units into classes that no set tells apart. `members[class]` lists the sets that hold it. */
function partition(sets: readonly UnitSet[]): {
  classes: Uint8Array;
  members: readonly (readonly number[])[];
} {
  const edges = [...new Set(sets.flatMap((set) => set.flatMap(([low, high]) => [low, high + 1])))];
  const bounds = [...new Set([0, ...edges])].filter((at) => at <= 0xffff).sort((a, b) => a - b);
  const classes = new Uint8Array(0x10000);
  const members: (readonly number[])[] = [];
  const known = new Map<string, number>();
  bounds.forEach((low, at) => {
    const holding = sets.flatMap((set, index) => (hasUnit(set, low) ? [index] : []));
    const key = holding.join();
    if (!known.has(key)) known.set(key, members.push(holding) - 1);
    classes.fill(known.get(key)!, low, bounds[at + 1] ?? 0x10000);
  });
  if (members.length > CLASSES_MAX) throw new Error(`the anchors need more than ${CLASSES_MAX} classes`);
  return { classes, members };
}

interface Row {
  readonly endings: readonly number[];
  /** The next state for each class. */
  readonly next: Int32Array;
}

/**
 * Subset construction. A state is a set of trie nodes; the root is in all of them and left out. Most states
 * leave the root's way for a few classes only, so a state's targets begin as the root's and are added to.
 */
function subsets(nodes: readonly Node[], members: readonly (readonly number[])[]): readonly Row[] {
  const classes_of = classesOfSets(members);
  const pool = nodeSets(nodes.length);
  const from_root = new Int32Array(members.length);
  const addEdges = (targets: Int32Array, node: number): void => {
    for (const { set, to } of nodes[node]!.edges) {
      for (const c of classes_of[set]!) targets[c] = pool.add(targets[c]!, to);
    }
  };
  addEdges(from_root, 0);

  const states: number[] = [0];
  const state_of = new Map<number, number>([[0, 0]]);
  const rows: Row[] = [];
  for (let at = 0; at < states.length; at++) {
    const own = pool.sets[states[at]!]!;
    const targets = from_root.slice();
    for (const node of own) addEdges(targets, node);
    const next = targets.map((set) => {
      const known = state_of.get(set);
      if (known !== undefined) return known;
      const state = states.push(set) - 1;
      state_of.set(set, state);
      return state;
    });
    rows.push({ endings: own.flatMap((node) => nodes[node]!.endings), next });
  }
  return rows;
}

/** Sets of node numbers, each kept once under a number of its own; 0 is the empty set. */
function nodeSets(node_count: number): {
  sets: readonly number[][];
  add: (set: number, node: number) => number;
} {
  const sets: number[][] = [[]];
  const by_key = new Map<string, number>([['', 0]]);
  const sums = new Map<number, number>();
  const add = (set: number, node: number): number => {
    const step = set * node_count + node;
    const known = sums.get(step);
    if (known !== undefined) return known;
    const larger = [...new Set([...sets[set]!, node])].sort((a, b) => a - b);
    const key = larger.join();
    const sum = by_key.get(key) ?? sets.push(larger) - 1;
    by_key.set(key, sum);
    sums.set(step, sum);
    return sum;
  };
  return { sets, add };
}

function classesOfSets(members: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const classes_of: number[][] = [];
  members.forEach((sets, c) => {
    for (const set of sets) {
      classes_of[set] ??= [];
      classes_of[set].push(c);
    }
  });
  return classes_of;
}

/** Lays the rows out so that accepting states come last: the scan tells them by one comparison. */
function number(rows: readonly Row[], classes: Uint8Array, class_count: number): Automaton {
  const stride = 2 ** Math.ceil(Math.log2(Math.max(class_count, 2)));
  const order = [...rows.keys()].sort(
    (a, b) => Number(accepts(rows[a]!)) - Number(accepts(rows[b]!)) || a - b,
  );
  const row_of = new Int32Array(rows.length);
  order.forEach((state, position) => {
    row_of[state] = position * stride;
  });
  const table = new Int32Array(rows.length * stride);
  rows.forEach((row, state) => {
    const from = row_of[state]!;
    for (let c = 0; c < class_count; c++) table[from + c] = row_of[row.next[c]!]!;
  });
  const accepting = order.map((state) => rows[state]!).filter(accepts);
  return {
    classes,
    table,
    stride,
    start: row_of[rows[0]!.next[classes[10]!]!]!,
    accept_from: (rows.length - accepting.length) * stride,
    endings: accepting.map((row) => row.endings),
  };
}

function accepts(row: Row): boolean {
  return row.endings.length > 0;
}
