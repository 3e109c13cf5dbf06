import {
  getCompiledDetector,
  isDetectorEnabled,
  LAYOUT_SIGNAL,
  type Scanner,
} from '../detect/matching/scanner.ts';
import { getAnchors, getChildren } from '../detect/matching/trie.ts';
import type { WalkPosition } from '../detect/matching/walk-automaton.ts';

/** The distance back at which a match may begin when the text so far ends with a part of its anchor. */
export interface AnchorDepth {
  /** Units of the anchor that the text ends with; 0 if the text ends only with what precedes an anchor. */
  readonly units: number;
  /** Probes among the partial anchors that step back from their anchor, each with its units so far. */
  readonly back: readonly { readonly index: number; readonly units: number }[];
}

/** The anchor depths of a set of detectors. Phrases do not count, because text is not held for them. */
export interface AnchorDepths {
  /** Indexed by the node of the automaton's trie. */
  readonly by_node: readonly AnchorDepth[];
  /** The maximum over all nodes of a walk position; computed when a text first reaches that position. */
  readonly by_place: WeakMap<WalkPosition, AnchorDepth>;
  /** The probes that step back from their anchor. */
  readonly back_probes: readonly number[];
  /** The maximum number of units that a user's pattern may begin before its anchor. */
  readonly before_units_max: number;
}

const NOTHING: AnchorDepth = { units: 0, back: [] };
const known = new WeakMap<Scanner, AnchorDepths>();

/** Computes the anchor depths of a scanner once and caches them. */
export function computeAnchorDepths(scanner: Scanner): AnchorDepths {
  const made = known.get(scanner) ?? getDepths(scanner);
  known.set(scanner, made);
  return made;
}

/** Returns the depth of the position that a walk has reached. */
export function findDepth({ by_node, by_place }: AnchorDepths, place: WalkPosition): AnchorDepth {
  const made = by_place.get(place) ?? mergeDepths(place.map((node) => by_node[node]!));
  by_place.set(place, made);
  return made;
}

function mergeDepths(depths: readonly AnchorDepth[]): AnchorDepth {
  const units = Math.max(0, ...depths.map((depth) => depth.units));
  return { units, back: keepDeepest(depths.flatMap(({ back }) => back)) };
}

function keepDeepest(back: AnchorDepth['back']): AnchorDepth['back'] {
  const unitsOf = new Map<number, number>();
  for (const { index, units } of back) unitsOf.set(index, Math.max(unitsOf.get(index) ?? 0, units));
  return [...unitsOf].map(([index, units]) => ({ index, units }));
}

function getDepths(scanner: Scanner): AnchorDepths {
  const byNode = Array.from({ length: scanner.automaton.trie.node_count }, () => NOTHING);
  visitNode(scanner, byNode, 0, 0);
  const probes = Array.from({ length: scanner.table.count }, (_, index) =>
    getCompiledDetector(scanner, index),
  );
  const backProbes = probes.flatMap(({ back_over, detector }, index) =>
    back_over === null || detector.weight !== undefined || !isDetectorEnabled(scanner, index) ? [] : [index],
  );
  const before = probes.map(({ detector: { pattern } }) =>
    'find' in pattern ? pattern.before_units_max : 0,
  );
  return {
    by_node: byNode,
    by_place: new WeakMap(),
    back_probes: backProbes,
    before_units_max: Math.max(0, ...before),
  };
}

interface AnchorEnd {
  /** Units before the anchor proper, which decide whether it may begin. */
  readonly before: number;
  readonly index: number;
}

/**
 * Fills in a node and its descendants and returns the anchors that end in them. Recursion is safe because anchors
 * are short.
 */
function visitNode(
  scanner: Scanner,
  depths: AnchorDepth[],
  node: number,
  depth: number,
): readonly AnchorEnd[] {
  const { trie } = scanner.automaton;
  const endings: AnchorEnd[] = [];
  for (const anchor of getAnchors(trie, node)) {
    const index = scanner.anchor_detector[anchor]!;
    if (index === LAYOUT_SIGNAL || (index >= 0 && !isDetectorEnabled(scanner, index))) continue;
    const isPhrase = index >= 0 && getCompiledDetector(scanner, index).detector.weight !== undefined;
    if (!isPhrase) endings.push({ before: depth - scanner.anchor_length[anchor]!, index });
  }
  for (const next of getChildren(trie, node)) endings.push(...visitNode(scanner, depths, next, depth + 1));
  if (depth === 0 || endings.length === 0) return endings;
  const units = Math.max(0, ...endings.map(({ before }) => depth - before));
  const stepping = endings.filter(
    ({ index }) => index >= 0 && getCompiledDetector(scanner, index).back_over !== null,
  );
  const back = stepping.map(({ index, before }) => ({ index, units: depth - before }));
  depths[node] = { units, back: keepDeepest(back.filter((each) => each.units > 1)) };
  return endings;
}
