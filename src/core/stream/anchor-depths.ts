import type { Scanner } from '../matching/scanner.ts';

/** How far back a match may begin of which a part of the anchor is there. */
export interface Depth {
  /** Units of the anchor that are there; 0 where only what stands before one is. */
  readonly units: number;
  /** Probes among them that step back from their anchor, and the units of it that are there. */
  readonly back: readonly { readonly index: number; readonly units: number }[];
}

/** What a set of detectors says about beginnings of anchors. Phrases do not count: text is not held for them. */
export interface Depths {
  /** Per node of the automaton's trie. */
  readonly of_nodes: readonly Depth[];
  /** Per state, of all its nodes; made when a text first comes by. */
  readonly of_states: Depth[];
  /** The probes that step back from their anchor. */
  readonly back_probes: readonly number[];
  /** Patterns of users may begin so many units before their anchor. */
  readonly before_units_max: number;
}

const NOTHING: Depth = { units: 0, back: [] };
const known = new WeakMap<Scanner, Depths>();

/** Made once per scanner. */
export function anchorDepths(scanner: Scanner): Depths {
  const made = known.get(scanner) ?? depthsOf(scanner);
  known.set(scanner, made);
  return made;
}

/** The depth of the state whose row is given. */
export function depthAt({ automaton }: Scanner, { of_nodes, of_states }: Depths, row: number): Depth {
  const state = row / automaton.stride;
  const made = of_states[state] ?? together(automaton.source.nodes_of[state]!.map((node) => of_nodes[node]!));
  of_states[state] = made;
  return made;
}

function together(depths: readonly Depth[]): Depth {
  const units = Math.max(0, ...depths.map((depth) => depth.units));
  return { units, back: deepest(depths.flatMap(({ back }) => back)) };
}

function deepest(back: Depth['back']): Depth['back'] {
  const units_of = new Map<number, number>();
  for (const { index, units } of back) units_of.set(index, Math.max(units_of.get(index) ?? 0, units));
  return [...units_of].map(([index, units]) => ({ index, units }));
}

function depthsOf(scanner: Scanner): Depths {
  const { nodes } = scanner.automaton.source;
  const of_nodes: Depth[] = nodes.map(() => NOTHING);
  visit(scanner, of_nodes, 0, 0);
  const back_probes = scanner.probes.flatMap(({ back_over, detector }, index) =>
    back_over === null || detector.weight !== undefined ? [] : [index],
  );
  const before = scanner.probes.map(({ detector: { pattern } }) =>
    'find' in pattern ? pattern.before_units_max : 0,
  );
  return { of_nodes, of_states: [], back_probes, before_units_max: Math.max(0, ...before) };
}

interface Ending {
  /** Units before the anchor proper, which tell whether it may begin. */
  readonly before: number;
  readonly index: number;
}

/** Fills in the node and those behind it; returns the anchors that end there. Anchors are short, and so is this. */
function visit(scanner: Scanner, depths: Depth[], node: number, depth: number): readonly Ending[] {
  const { nodes } = scanner.automaton.source;
  const endings: Ending[] = [];
  for (const anchor of nodes[node]!.endings) {
    const index = scanner.anchor_probe[anchor]!;
    const is_phrase = index >= 0 && scanner.probes[index]!.detector.weight !== undefined;
    if (!is_phrase) endings.push({ before: depth - scanner.anchor_length[anchor]!, index });
  }
  const { edges } = nodes[node]!;
  for (let at = 1; at < edges.length; at += 2) endings.push(...visit(scanner, depths, edges[at]!, depth + 1));
  if (depth === 0 || endings.length === 0) return endings;
  const units = Math.max(0, ...endings.map(({ before }) => depth - before));
  const stepping = endings.filter(({ index }) => index >= 0 && scanner.probes[index]!.back_over !== null);
  const back = stepping.map(({ index, before }) => ({ index, units: depth - before }));
  depths[node] = { units, back: deepest(back.filter((each) => each.units > 1)) };
  return endings;
}
