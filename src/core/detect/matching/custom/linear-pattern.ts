/** Compiles users' patterns for an engine that takes linear time for any pattern and any text. */
import { RE2JS } from 're2js';
import type { LinearPattern } from '../detector.ts';
import { passesChecks, type ValueChecks } from './checks.ts';
import { parsePatternTree } from './pattern-tree.ts';
import { findAlphabet } from './required-anchor.ts';

/**
 * The work of one unit that the engine or a check reads, to which the instructions of the pattern are added.
 */
const UNIT_WORK = 8;
const INSTRUCTION_WORK = 1 / 2;

/** The parts of a user's pattern that a search needs; see `CustomPattern` for the limits and checks. */
export interface LinearPatternSource extends ValueChecks {
  readonly pattern: string;
  readonly before_units_max: number;
  readonly units_max: number;
}

/**
 * Compiles a pattern that the engine has parsed before. The engine receives only the text that a match can
 * cover: the units of the pattern's alphabet around the anchor, at most `before_units_max` before it and
 * `units_max` after the start of a match, and one more unit on each side, so that `\b` can be evaluated.
 */
export function compileLinearPattern(written: LinearPatternSource): LinearPattern {
  const { pattern, before_units_max, units_max } = written;
  const checksWork = ((written.checks?.length ?? 0) + Number((written.entropy_min ?? 0) > 0)) * UNIT_WORK;
  let made: LinearEngine | null = null;
  return {
    source: pattern,
    before_units_max,
    units_max,
    find: (text, anchor, least, meter) => {
      made ??= compileEngine(pattern);
      const { engine, alphabet, group, unit_work } = made;
      const from = findRunStart(alphabet, text, anchor, Math.max(least, anchor - before_units_max));
      const end = findRunEnd(alphabet, text, anchor, Math.min(text.length, anchor + units_max));
      const context = Number(from > 0 && !isEscape(text, from));
      const shift = from - context;
      const window = text.slice(shift, end + 1);
      const matcher = engine.matcher(window);
      for (let at = context; at < window.length; at = Math.max(at + 1, matcher.end())) {
        meter.work += (window.length - at) * unit_work;
        if (meter.work > meter.allowed || !matcher.find(at)) return null;
        if (shift + matcher.start() > anchor) return null;
        if (shift + matcher.end() > anchor && matcher.end(group) > matcher.start(group)) {
          const span = [shift + matcher.start(group), shift + matcher.end(group)] as const;
          meter.work += (span[1] - span[0]) * checksWork;
          return passesChecks(text.slice(...span), written) ? span : null;
        }
      }
      return null;
    },
  };
}

/** A compiled pattern. It is created at the first try, because most patterns are never tried. */
interface LinearEngine {
  readonly engine: RE2JS;
  readonly alphabet: Uint8Array;
  readonly group: string | number;
  readonly unit_work: number;
}

function compileEngine(pattern: string): LinearEngine {
  const engine = RE2JS.compile(pattern);
  return {
    engine,
    alphabet: buildAlphabetTable(pattern),
    group: Object.hasOwn(engine.namedGroups(), 'value') ? 'value' : 0,
    unit_work: UNIT_WORK + engine.programSize() * INSTRUCTION_WORK,
  };
}

/** Returns the start of the units of the alphabet before `at`, not below `lowest`. */
function findRunStart(alphabet: Uint8Array, text: string, at: number, lowest: number): number {
  let first = at;
  while (first > lowest && isInAlphabet(alphabet, text, first - 1)) first -= 1;
  return first;
}

/** Returns the end of the units of the alphabet from `at` on, not above `highest`. */
function findRunEnd(alphabet: Uint8Array, text: string, at: number, highest: number): number {
  let end = at;
  while (end < highest && isInAlphabet(alphabet, text, end)) end += 1;
  return end;
}

function isInAlphabet(alphabet: Uint8Array, text: string, at: number): boolean {
  return alphabet[Math.min(text.charCodeAt(at), ALPHABET_UNITS)] === 1;
}

/** The size of an alphabet table: one entry for each ASCII unit, and one for all others. */
const ALPHABET_UNITS = 0x80;

function buildAlphabetTable(pattern: string): Uint8Array {
  const table = new Uint8Array(ALPHABET_UNITS + 1);
  for (const set of findAlphabet(parsePatternTree(pattern)))
    for (const [low, high] of set)
      table.fill(1, Math.min(low, ALPHABET_UNITS), Math.min(high, ALPHABET_UNITS) + 1);
  return table;
}

/** Returns whether the letter before a match belongs to an escape (`\n`), and so is not part of a word. */
function isEscape(text: string, from: number): boolean {
  return from > 1 && text[from - 2] === '\\' && 'nrt'.includes(text[from - 1]!);
}
