import { countSteps, createTextCache } from '../../steps.ts';

/** Globs as shells and search tools read them: `*`, `?`, `[abc]`, `[!a-z]`, `{a,b}`. */

/** Returns whether a text has a sign that makes it a glob. */
export function hasWildcard(text: string): boolean {
  return /[*?{]|\[[^\]]+\]/.test(text);
}

/**
 * Returns the globs to which `{a,b}` in a glob expands.
 * @param most - the most globs; `null` is returned if there are more
 */
export function expandBraces(glob: string, most: number): readonly string[] | null {
  let done: string[] = [''];
  for (const { alternatives } of parseBraceGroups(glob)) {
    if (done.length * alternatives.length > most) return null;
    done = done.flatMap((head) => alternatives.map((alternative) => head + alternative));
  }
  return done.length > most ? null : done;
}

interface BraceGroup {
  readonly alternatives: readonly string[];
}

/**
 * Splits a glob at its braces: plain text, or the alternatives of one pair of braces. Nested braces are
 * expanded too.
 */
function parseBraceGroups(glob: string): readonly BraceGroup[] {
  const groups: BraceGroup[] = [];
  let rest = 0;
  for (const { 0: found, index } of glob.matchAll(
    /\{[^{}]*\}|\{[^{}]*\{[^{}]*\}(?:[^{}]*\{[^{}]*\}){0,20}[^{}]*\}/g,
  )) {
    groups.push({ alternatives: [glob.slice(rest, index)] });
    groups.push({ alternatives: found.includes(',') ? found.replace(/[{}]/g, '').split(',') : [found] });
    rest = index + found.length;
  }
  groups.push({ alternatives: [glob.slice(rest)] });
  return groups;
}

/** One sign of a pattern: `*`, any character, or one character of a set. */
interface Sign {
  readonly is_run: boolean;
  readonly accepts: ((unit: string) => boolean) | null;
  readonly literal: string | null;
}

/** The most units of a file name. */
const NAME_UNITS_MAX = 256;

/** The signs of a glob, and what they demand of a name. */
export interface GlobSigns {
  readonly signs: readonly Sign[];
  readonly has_run: boolean;
  /** The fewest units of a name. */
  readonly units_min: number;
  /** The number of times that each unit is written out. */
  readonly literals: ReadonlyMap<string, number>;
}

/**
 * Returns whether some name matches both a glob and a pattern that has no other wildcard than `*`, and at least
 * `least` of the first `coreUnits` of the pattern are written out in the glob.
 */
export function intersectsGlob(glob: string, right: GlobSigns, coreUnits: number, least: number): boolean {
  const left = getSigns(glob.slice(0, NAME_UNITS_MAX));
  if (!canFit(left, right) || !writesOut(left, right, least)) return false;
  countSteps(left.signs.length * right.signs.length);
  // Each cell has the most units of the core that a path to it has written out; below zero there is no path.
  let row = new Int16Array(right.signs.length + 1).fill(-1);
  let next = row.slice();
  row[0] = 0;
  closeRuns(row, right.signs);
  for (const sign of left.signs) {
    if (sign.is_run) {
      for (let at = 0; at < right.signs.length; at += 1) raiseCell(row, at + 1, row[at]!);
      continue;
    }
    next.fill(-1);
    for (let at = 0; at < right.signs.length; at += 1) {
      const other = right.signs[at]!;
      const before = row[at]!;
      if (before < 0) continue;
      if (other.is_run) raiseCell(next, at, before);
      else if (canMatchSameUnit(sign, other))
        raiseCell(next, at + 1, before + (sign.literal !== null && at < coreUnits ? 1 : 0));
    }
    if (right.signs.at(-1)?.is_run === true) raiseCell(next, right.signs.length, row[right.signs.length]!);
    closeRuns(next, right.signs);
    [row, next] = [next, row];
  }
  return row[right.signs.length]! >= least;
}

/** Returns false if the glob demands more units than names of the pattern have. */
function canFit(left: GlobSigns, right: GlobSigns): boolean {
  return right.has_run || left.units_min <= right.units_min;
}

/** Returns whether a glob writes out enough units of a pattern, in any order. */
function writesOut(left: GlobSigns, right: GlobSigns, least: number): boolean {
  const [few, many] = left.literals.size < right.literals.size ? [left, right] : [right, left];
  let count = 0;
  for (const [unit, times] of few.literals) count += Math.min(times, many.literals.get(unit) ?? 0);
  return count >= least;
}

/** Closes over `*` in the pattern, which can match an empty text. */
function closeRuns(row: Int16Array, right: readonly Sign[]): void {
  for (const [at, sign] of right.entries()) if (sign.is_run) raiseCell(row, at + 1, row[at]!);
}

function raiseCell(row: Int16Array, at: number, units: number): void {
  if (units > row[at]!) row[at] = units;
}

function canMatchSameUnit(one: Sign, other: Sign): boolean {
  if (one.literal !== null) return other.accepts?.(one.literal) ?? other.literal === one.literal;
  return other.literal === null || (one.accepts?.(other.literal) ?? true);
}

const getSigns = createTextCache(parseGlob);

/** Parses a glob, or the pattern of a name. */
export function parseGlob(glob: string): GlobSigns {
  const signs: Sign[] = [];
  const literals = new Map<string, number>();
  for (const [text] of glob.matchAll(/\*+|\[[!^]?\]?[^\]]*\]|\\?[\s\S]/g)) {
    const sign = getSign(text);
    signs.push(sign);
    if (sign.literal !== null) literals.set(sign.literal, (literals.get(sign.literal) ?? 0) + 1);
  }
  const runs = signs.filter(({ is_run }) => is_run).length;
  return { signs, has_run: runs > 0, units_min: signs.length - runs, literals };
}

function getSign(text: string): Sign {
  if (text.startsWith('*')) return { is_run: true, accepts: null, literal: null };
  if (text === '?') return { is_run: false, accepts: () => true, literal: null };
  if (text.length > 2 && text.startsWith('[')) return parseSet(text.slice(1, -1));
  return { is_run: false, accepts: null, literal: text.replace(/^\\(?=.)/, '') };
}

/** Parses a set: `abc`, `a-z`, `!abc`. A set of one character becomes that character. */
function parseSet(inner: string): Sign {
  const isNegated = /^[!^]/.test(inner);
  const body = isNegated ? inner.slice(1) : inner;
  if (body.length === 1 && !isNegated) return { is_run: false, accepts: null, literal: body };
  const accepts = (unit: string): boolean => isInSet(body, unit) !== isNegated;
  return { is_run: false, accepts, literal: null };
}

function isInSet(body: string, unit: string): boolean {
  for (const { 0: part } of body.matchAll(/[\s\S]-[\s\S]|[\s\S]/g))
    if (part.length === 3 ? part[0]! <= unit && unit <= part[2]! : part === unit) return true;
  return false;
}
