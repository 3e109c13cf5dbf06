/** Finds sequences that every match of a pattern contains, which are the anchors of the search. */
import type { UnitSet } from '../anchors.ts';
import { type PatternTree, parsePatternTree } from './pattern-tree.ts';

/** Sequences of units, one of which is in every match, and the number of units that may precede it. */
export interface RequiredAnchor {
  /** In the notation of anchors.ts. */
  readonly anchors: readonly string[];
  /** Infinite after a repeat without a bound. */
  readonly before_units_max: number;
}

/** The fewest selective units of an anchor, which means units with only a few possible values. */
export const DISTINCT_UNITS_MIN = 3;
const TELLING_SET_MAX = 4;
const ANCHOR_UNITS_MAX = 12;
const SEQUENCES_MAX = 32;

/**
 * Returns the best anchor of a pattern; `null` if not every match contains a sequence of `DISTINCT_UNITS_MIN`
 * selective units.
 */
export function findRequiredAnchor(tree: PatternTree): RequiredAnchor | null {
  const best = findBestCandidate(tree);
  if (best === null) return null;
  const edge = best.before_units_max === 0 && beginsWithWord(tree) ? '\\b' : '';
  return {
    anchors: best.sequences.map((sequence) => edge + sequence.map(getNotation).join('')),
    before_units_max: best.before_units_max,
  };
}

/** Builds an anchor that a user named: these characters, in either case if the pattern begins with `(?i)`. */
export function buildLiteralAnchor(literal: string, pattern: string): RequiredAnchor {
  const fold = pattern.startsWith('(?i)');
  const sets = literal.split('').map((unit): UnitSet => {
    const forms = fold ? [unit, unit.toLowerCase()[0]!, unit.toUpperCase()[0]!] : [unit];
    return [...new Set(forms)].map((form) => [form.charCodeAt(0), form.charCodeAt(0)] as const);
  });
  const beforeUnitsMax = Math.max(0, measureUnits(parsePatternTree(pattern)).most - literal.length);
  return { anchors: [sets.map(getNotation).join('')], before_units_max: beforeUnitsMax };
}

/** Returns the least and the most units of a match. */
export function measureUnits(tree: PatternTree): { readonly least: number; readonly most: number } {
  if (tree.kind === 'mark') return { least: 0, most: 0 };
  if (tree.kind === 'unit') return { least: 1, most: tree.is_fixed ? 1 : 2 };
  if (tree.kind === 'times') {
    const { least, most } = measureUnits(tree.part);
    return { least: least * tree.least, most: most === 0 || tree.most === 0 ? 0 : most * tree.most };
  }
  const inner = (tree.kind === 'all' ? tree.parts : tree.ways).map(measureUnits);
  if (tree.kind === 'any') {
    return {
      least: Math.min(...inner.map(({ least }) => least)),
      most: Math.max(...inner.map(({ most }) => most)),
    };
  }
  return {
    least: inner.reduce((sum, { least }) => sum + least, 0),
    most: inner.reduce((sum, { most }) => sum + most, 0),
  };
}

/** Returns the sets of all units that can be in a match. */
export function findAlphabet(tree: PatternTree): readonly UnitSet[] {
  if (tree.kind === 'unit') return [tree.set];
  if (tree.kind === 'mark') return [];
  if (tree.kind === 'times') return findAlphabet(tree.part);
  return (tree.kind === 'all' ? tree.parts : tree.ways).flatMap(findAlphabet);
}

type Sequence = readonly UnitSet[];

interface Candidate {
  readonly sequences: readonly Sequence[];
  readonly before_units_max: number;
}

function findBestCandidate(tree: PatternTree): Candidate | null {
  const exact = getExact(tree);
  if (exact !== null) return buildTellingCandidate(exact, 0);
  if (tree.kind === 'any') return findBestOfWays(tree.ways);
  if (tree.kind === 'times') return tree.least === 0 ? null : findBestCandidate(tree.part);
  return tree.kind === 'all' ? findBestOfParts(tree.parts) : null;
}

/** Returns the anchors of all alternatives together, which are as good as the worst one. */
function findBestOfWays(ways: readonly PatternTree[]): Candidate | null {
  const found = ways.map(findBestCandidate);
  const all = found.filter((each) => each !== null);
  const sequences = all.flatMap((each) => each.sequences);
  if (all.length < found.length || sequences.length > SEQUENCES_MAX) return null;
  return getCandidate(sequences, Math.max(...all.map((each) => each.before_units_max)));
}

function findBestOfParts(parts: readonly PatternTree[]): Candidate | null {
  const candidates: (Candidate | null)[] = [];
  let run: readonly Sequence[] = [[]];
  let runBefore = 0;
  let before = 0;
  for (const part of parts) {
    const { most } = measureUnits(part);
    const begin = getBeginning(part);
    const longer = begin && crossSequences(run, begin.sequences);
    run = longer ?? run;
    if (longer === null || !begin?.is_whole) {
      candidates.push(buildTellingCandidate(run, runBefore), shiftCandidate(findBestCandidate(part), before));
      run = [[]];
      runBefore = before + most;
    }
    before += most;
  }
  candidates.push(buildTellingCandidate(run, runBefore));
  return candidates.reduce(chooseBetter, null);
}

/** Returns the sequences with which a part begins; `is_whole` is true if they are the whole part. */
function getBeginning(part: PatternTree): { sequences: readonly Sequence[]; is_whole: boolean } | null {
  const exact = getExact(part);
  if (exact !== null) return { sequences: exact, is_whole: true };
  if (part.kind !== 'times' || part.least === 0) return null;
  const least = Math.min(part.least, ANCHOR_UNITS_MAX);
  const sequences = getExact({ ...part, least, most: least });
  return sequences && { sequences, is_whole: false };
}

function shiftCandidate(candidate: Candidate | null, before: number): Candidate | null {
  return candidate && { ...candidate, before_units_max: candidate.before_units_max + before };
}

/**
 * Returns the sequences as an anchor, cut to their selective part; `null` if one of them is not selective
 * enough.
 */
function buildTellingCandidate(sequences: readonly Sequence[], before: number): Candidate | null {
  const starts = sequences.map((sequence) => Math.max(0, sequence.findIndex(isTelling)));
  const whole = removeDuplicates(sequences);
  const trimmed = removeDuplicates(sequences.map((sequence, at) => sequence.slice(starts[at]!)));
  const isWhole = whole.length <= trimmed.length && whole.every(isDistinctive);
  const chosen = isWhole ? whole : trimmed;
  if (!chosen.every(isDistinctive)) return null;
  return getCandidate(chosen, isWhole ? before : before + Math.max(...starts));
}

/**
 * Builds a candidate. If sequences differ in length, a short one can end before a long one that began
 * earlier, so the search for the match goes back as far as the long one reaches.
 */
function getCandidate(sequences: readonly Sequence[], before: number): Candidate {
  const differ = new Set(sequences.map(({ length }) => length)).size > 1;
  return { sequences, before_units_max: before + (differ ? ANCHOR_UNITS_MAX : 0) };
}

function removeDuplicates(sequences: readonly Sequence[]): readonly Sequence[] {
  const cut = sequences.map((sequence) => sequence.slice(0, ANCHOR_UNITS_MAX));
  return [...new Map(cut.map((sequence) => [sequence.map(getNotation).join(''), sequence])).values()];
}

function isDistinctive(sequence: Sequence): boolean {
  return sequence.filter(isTelling).length >= DISTINCT_UNITS_MIN;
}

function isTelling(set: UnitSet): boolean {
  return set.reduce((units, [low, high]) => units + high - low + 1, 0) <= TELLING_SET_MAX;
}

/** Prefers the more selective sequence, then one at the beginning, then the first. */
function chooseBetter(a: Candidate | null, b: Candidate | null): Candidate | null {
  if (a === null || b === null) return a ?? b;
  return rankCandidate(b) > rankCandidate(a) ? b : a;
}

function rankCandidate({ sequences, before_units_max }: Candidate): number {
  const tellingUnits = Math.min(...sequences.map((sequence) => sequence.filter(isTelling).length));
  return (
    Math.min(tellingUnits, 6) +
    (before_units_max === 0 ? 3 : 0) -
    (before_units_max === Number.POSITIVE_INFINITY ? 2 : 0)
  );
}

/** Returns all sequences that the tree matches if they are few, short and of known length; else `null`. */
function getExact(tree: PatternTree): readonly Sequence[] | null {
  if (tree.kind === 'mark') return [[]];
  if (tree.kind === 'unit') return tree.is_fixed ? [[tree.set]] : null;
  if (tree.kind === 'any') return joinSequences(tree.ways.map(getExact));
  if (tree.kind === 'all') {
    return tree.parts.reduce<readonly Sequence[] | null>(
      (run, part) => run && crossSequences(run, getExact(part)),
      [[]],
    );
  }
  const inner = getExact(tree.part);
  if (inner === null || tree.most > ANCHOR_UNITS_MAX) return null;
  let repeated: readonly Sequence[] | null = [[]];
  const counts: (readonly Sequence[] | null)[] = tree.least === 0 ? [[[]]] : [];
  for (let count = 1; count <= tree.most; count++) {
    repeated = repeated && crossSequences(repeated, inner);
    if (count >= tree.least) counts.push(repeated);
  }
  return joinSequences(counts);
}

function joinSequences(lists: readonly (readonly Sequence[] | null)[]): readonly Sequence[] | null {
  if (lists.includes(null)) return null;
  const all = lists.flatMap((list) => list ?? []);
  return all.length <= SEQUENCES_MAX ? all : null;
}

function crossSequences(
  before: readonly Sequence[],
  after: readonly Sequence[] | null,
): readonly Sequence[] | null {
  if (after === null || before.length * after.length > SEQUENCES_MAX) return null;
  return before.flatMap((first) => after.map((second) => [...first, ...second]));
}

/** Returns whether the pattern requires a word boundary at which a word begins. */
function beginsWithWord(tree: PatternTree): boolean {
  if (tree.kind !== 'all') return false;
  const [first, second] = tree.parts;
  if (first?.kind !== 'mark' || !first.is_word_edge || second?.kind !== 'unit') return false;
  return second.set.every(([low, high]) => /^\w\w$/.test(String.fromCharCode(low, high)));
}

function getNotation(set: UnitSet): string {
  const ranges = set.map(([low, high]) =>
    low === high ? escapeUnit(low) : `${escapeUnit(low)}-${escapeUnit(high)}`,
  );
  return set.length === 1 && set[0]![0] === set[0]![1] ? ranges[0]! : `[${ranges.join('')}]`;
}

/** Returns a unit in anchor notation. Every unit except letters and digits is escaped. */
function escapeUnit(unit: number): string {
  const char = String.fromCharCode(unit);
  return unit < 0x80 && !/\w/.test(char) ? `\\${char}` : char;
}
