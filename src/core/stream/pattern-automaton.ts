/**
 * Decides whether an attempt to match a pattern is final: whether more text could change its result. A pattern
 * becomes an automaton that follows all possible paths. Once no path is left, the pattern has not examined anything
 * further. The automaton errs on the safe side only: it may report a decided attempt as open.
 */
import type { LinearPattern } from '../detect/matching/detector.ts';
import { countUnitsMax, listUnitClasses, type PatternNode, parsePatternNode } from './pattern-tree.ts';

/** The automaton of a pattern. Its states are computed when a text first needs them. */
export interface PatternAutomaton {
  readonly first: AutomatonState;
  /** After this many units an attempt is decided, whatever they are. */
  readonly units_max: number;
  /** Must match before the start; `null` if there is no such requirement. */
  readonly before: RegExp | null;
  /** The number of units before its start at which a match may begin. */
  readonly back_units: number;
  readonly ways: AutomatonNodes;
}

/** The set of positions that an attempt can have after some units. */
export interface AutomatonState {
  readonly waiting: readonly AutomatonPath[];
  /** `true` if the next unit can still change the result. */
  readonly is_open: boolean;
  /** `true` if a path has reached the `value` group; always `true` if the pattern has no such group. */
  readonly is_in_value: boolean;
  /** `true` if a path has reached the end of the pattern here. */
  readonly is_match: boolean;
  readonly next: Map<number, AutomatonState>;
}

/** One path of an attempt: the node that waits for a unit, and the unit sequences that must not follow. */
interface AutomatonPath {
  readonly node: number;
  readonly refused: readonly number[];
}

/**
 * Nodes by number. A node with `units[n]` consumes one unit and continues at `to[n]`. A node without units
 * continues at `to` and `or` without consuming any.
 */
interface AutomatonNodes {
  readonly units: (UnitTest | null)[];
  readonly to: number[];
  readonly or: number[];
  readonly is_edge: boolean[];
  /** First nodes of unit sequences that must not follow. */
  readonly refused: (readonly number[])[];
  readonly is_in_value: boolean[];
  readonly states: Map<string, AutomatonState>;
}

type UnitTest = (unit: number) => boolean;

/** Longer repeats are unbounded in the automaton; `units_max` ends them. */
const UNIT_COPIES_MAX = 48;
const GROUP_NODES_MAX = 400;
/**
 * When this many states are cached they are all deleted and computed again, so that no text can exhaust the memory.
 */
const STATES_MAX = 512;
/** The node after the last one: the pattern has matched. */
const DONE = -1;
const NONE = -2;
const KEPT_UNITS = 0x80;

/** Builds the automaton of a pattern, which may have the flags `i` and `s` only. */
export function buildAutomaton(pattern: RegExp): PatternAutomaton {
  const tree = parsePatternNode(pattern);
  const ways: AutomatonNodes = {
    units: [],
    to: [],
    or: [],
    is_edge: [],
    refused: [],
    is_in_value: [],
    states: new Map(),
  };
  const builder: Builder = { ways, flags: pattern.flags.replace(/[dgy]/g, '') };
  const entry = buildNodes(builder, tree, DONE, !pattern.source.includes('(?<value>'));
  const lookbehind = findLeadingLookbehind(tree);
  return {
    first: getState(ways, [{ node: entry, refused: [] }]),
    units_max: countUnitsMax(tree),
    before: lookbehind === null ? null : new RegExp(lookbehind, `${builder.flags}y`),
    back_units: 0,
    ways,
  };
}

/** Builds an automaton for a pattern of which only the maximum number of examined units is known. */
export function buildBoundedAutomaton({ before_units_max, units_max }: LinearPattern): PatternAutomaton {
  return { ...buildAutomaton(/[\s\S]*/), units_max: units_max + 1, back_units: before_units_max };
}

/** Returns the state after one more unit. If the attempt is decided, that state waits for nothing. */
export function advanceState(
  { ways }: PatternAutomaton,
  state: AutomatonState,
  unit: number,
): AutomatonState {
  const known = state.next.get(unit);
  if (known !== undefined) return known;
  const next = getState(
    ways,
    state.waiting.flatMap((way) => advancePath(ways, way, unit) ?? []),
  );
  if (unit < KEPT_UNITS) state.next.set(unit, next);
  return next;
}

/** Returns the path after a unit; `null` if it ends there. */
function advancePath(
  { units, to }: AutomatonNodes,
  { node, refused }: AutomatonPath,
  unit: number,
): AutomatonPath | null {
  if (node !== DONE && !units[node]!(unit)) return null;
  const left = refused.filter((row) => units[row]!(unit)).map((row) => to[row]!);
  if (left.includes(DONE) || (node === DONE && left.length === 0)) return null;
  return { node: node === DONE ? DONE : to[node]!, refused: left };
}

interface Builder {
  readonly ways: AutomatonNodes;
  readonly flags: string;
}

/** Builds the nodes for `tree`, followed by the node `next`, and returns the first. */
function buildNodes(builder: Builder, tree: PatternNode, next: number, inValue: boolean): number {
  switch (tree.kind) {
    case 'unit':
      return addNode(builder, createUnitTest(tree.source, builder.flags), next, NONE, inValue);
    case 'edge': {
      const node = addNode(builder, null, next, NONE, inValue);
      builder.ways.is_edge[node] = true;
      return node;
    }
    case 'again':
      return buildLoop(builder, { kind: 'unit', source: '[\\s\\S]' }, next, inValue);
    case 'behind':
      return next;
    case 'ahead':
      return buildAhead(builder, tree, next, inValue);
    case 'value':
      return buildNodes(builder, tree.item, next, true);
    case 'repeat':
      return buildRepeat(builder, tree, next, inValue);
    case 'choice':
      return tree.items
        .map((item) => buildNodes(builder, item, next, inValue))
        .reduce((before, entry) => addNode(builder, null, before, entry, inValue));
    default:
      return buildSequence(builder, tree.items, next, inValue);
  }
}

/**
 * Builds a lookahead. A negative lookahead for a plain sequence of units ends a path. Any other lookahead only
 * counts as units that are examined.
 */
function buildAhead(
  builder: Builder,
  { item, is_refused }: PatternNode & { readonly kind: 'ahead' },
  next: number,
  inValue: boolean,
): number {
  const rows = (item.kind === 'choice' ? item.items : [item]).map(listUnitClasses);
  if (!is_refused || rows.some((row) => row === null || row.length === 0))
    return addNode(builder, null, next, buildNodes(builder, item, NONE, inValue), inValue);
  const node = addNode(builder, null, next, NONE, inValue);
  builder.ways.refused[node] = rows.map((row) =>
    row!.reduceRight(
      (then, source) => addNode(builder, createUnitTest(source, builder.flags), then, NONE, inValue),
      DONE,
    ),
  );
  return node;
}

function buildSequence(
  builder: Builder,
  items: readonly PatternNode[],
  next: number,
  inValue: boolean,
): number {
  const valueAt = inValue ? 0 : items.findIndex(hasValue);
  let entry = next;
  for (let at = items.length - 1; at >= 0; at--)
    entry = buildNodes(builder, items[at]!, entry, inValue || (valueAt >= 0 && at > valueAt));
  return entry;
}

function buildRepeat(
  builder: Builder,
  { item, least, most }: PatternNode & { readonly kind: 'repeat' },
  next: number,
  inValue: boolean,
): number {
  const inside = inValue || (most > 1 && hasValue(item));
  const copiesMax = item.kind === 'unit' ? UNIT_COPIES_MAX : Math.floor(GROUP_NODES_MAX / countNodes(item));
  let entry = next;
  let copies = least;
  if (most > Math.max(copiesMax, 1)) {
    entry = buildLoop(builder, item, next, inside);
    copies = Math.min(least, copiesMax);
  } else {
    for (let count = least; count < most; count++)
      entry = addNode(builder, null, next, buildNodes(builder, item, entry, inside), inValue);
  }
  for (let count = 0; count < copies; count++) entry = buildNodes(builder, item, entry, inside);
  return entry;
}

function buildLoop(builder: Builder, item: PatternNode, next: number, inValue: boolean): number {
  const loop = addNode(builder, null, next, NONE, inValue);
  builder.ways.or[loop] = buildNodes(builder, item, loop, inValue);
  return loop;
}

function addNode(
  { ways }: Builder,
  units: UnitTest | null,
  then: number,
  or: number,
  inValue: boolean,
): number {
  ways.units.push(units);
  ways.to.push(then);
  ways.or.push(or);
  ways.is_edge.push(false);
  ways.refused.push([]);
  return ways.is_in_value.push(inValue) - 1;
}

function hasValue(node: PatternNode): boolean {
  if (node.kind === 'value') return true;
  if (node.kind === 'repeat') return hasValue(node.item);
  return (node.kind === 'sequence' || node.kind === 'choice') && node.items.some(hasValue);
}

/** Returns the approximate number of nodes that a tree needs. */
function countNodes(node: PatternNode): number {
  if (node.kind === 'repeat')
    return 1 + countNodes(node.item) * Math.max(1, Math.min(node.most, UNIT_COPIES_MAX));
  if (node.kind === 'value' || node.kind === 'ahead') return 1 + countNodes(node.item);
  if (node.kind === 'sequence' || node.kind === 'choice')
    return node.items.reduce((sum, item) => sum + countNodes(item), 1);
  return 1;
}

/** Returns the lookbehind with which every path begins, if there is one. */
function findLeadingLookbehind(tree: PatternNode): string | null {
  if (tree.kind === 'behind') return tree.source;
  return tree.kind === 'sequence' && tree.items.length > 0 ? findLeadingLookbehind(tree.items[0]!) : null;
}

function getState(ways: AutomatonNodes, entries: readonly AutomatonPath[]): AutomatonState {
  const waiting = new Map<string, AutomatonPath>();
  const seen = new Set<string>();
  const open = [...entries];
  let hasEdge = false;
  let inValue = false;
  let isMatch = false;
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    const { node, refused } = way;
    const key = `${node}:${refused.join('.')}`;
    if (node === NONE || seen.has(key)) continue;
    seen.add(key);
    if (node === DONE) {
      isMatch = true;
      if (refused.length > 0) waiting.set(key, way);
      inValue ||= refused.length > 0;
      continue;
    }
    const isUnit = ways.units[node] !== null;
    if (isUnit) waiting.set(key, way);
    else {
      const all = ways.refused[node]!.length > 0 ? mergeNumbers(refused, ways.refused[node]!) : refused;
      open.push({ node: ways.to[node]!, refused: all }, { node: ways.or[node]!, refused });
    }
    hasEdge ||= ways.is_edge[node]!;
    inValue ||= (isUnit || ways.is_edge[node]!) && ways.is_in_value[node]!;
  }
  return internState(ways, waiting, { has_edge: hasEdge, in_value: inValue, is_match: isMatch });
}

function mergeNumbers(some: readonly number[], others: readonly number[]): readonly number[] {
  return [...new Set([...some, ...others])].sort((a, b) => a - b);
}

/** Returns the one cached state for these paths. */
function internState(
  { states }: AutomatonNodes,
  waiting: ReadonlyMap<string, AutomatonPath>,
  { has_edge, in_value, is_match }: { has_edge: boolean; in_value: boolean; is_match: boolean },
): AutomatonState {
  const key = `${has_edge} ${in_value} ${is_match} ${[...waiting.keys()].sort().join()}`;
  const known = states.get(key);
  if (known !== undefined) return known;
  if (states.size >= STATES_MAX) {
    for (const state of states.values()) state.next.clear();
    states.clear();
  }
  const isOpen = has_edge || waiting.size > 0;
  const made: AutomatonState = {
    waiting: [...waiting.values()],
    is_open: isOpen,
    is_in_value: in_value,
    is_match,
    next: new Map(),
  };
  states.set(key, made);
  return made;
}

const tests = new Map<string, UnitTest>();

/**
 * Returns a test for a class of units. It uses the regular expression engine itself, so both always agree.
 */
function createUnitTest(source: string, flags: string): UnitTest {
  const key = `${flags} ${source}`;
  const known = tests.get(key);
  if (known !== undefined) return known;
  const pattern = new RegExp(`^${source}$`, flags.replace('m', ''));
  const kept = new Uint8Array(KEPT_UNITS);
  for (let unit = 0; unit < KEPT_UNITS; unit++) kept[unit] = pattern.test(String.fromCharCode(unit)) ? 1 : 0;
  const test: UnitTest = (unit) =>
    unit < KEPT_UNITS ? kept[unit] === 1 : pattern.test(String.fromCharCode(unit));
  tests.set(key, test);
  return test;
}
