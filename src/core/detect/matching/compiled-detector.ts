import { parseUnits } from './anchors.ts';
import type { Detector, LinearPattern } from './detector.ts';
import { measurePatternReach } from './pattern-reach.ts';

/** A match of a detector: UTF-16 offsets into the scanned text, end exclusive. */
export interface Match {
  readonly detector: Detector;
  readonly start: number;
  readonly end: number;
}

/**
 * Work, counted instead of timed: one for each unit that is read, and for each try of a pattern its cost. A scan
 * stops when its work exceeds `allowed`.
 */
export interface WorkMeter {
  work: number;
  allowed: number;
  /** The number of automaton transitions computed for it. */
  transitions?: number;
  /** True if a part of the content was found that is not ASCII. */
  has_wide_units?: boolean;
}

/** The fixed cost of a try, the share of its reach that it reads before it fails, and the most of that. */
const TRY_WORK = 16;
const REACH_SHARE = 1 / 16;
const REACH_WORK_MAX = 256;

/** The cost of a check that fails before a pattern. One that succeeds is part of the cost of the pattern. */
const PRECHECK_WORK = 16;

/** The default cost of a validator per unit of a value. */
const VALIDATE_WORK = 8;

/** A detector in the form that a scan uses. */
export interface CompiledDetector {
  readonly detector: Detector;
  /** Compiled at the first try, because most patterns are never tried in the life of a process. */
  compiled_pattern: CompiledPattern | null;
  /** 1 for each unit to step back over; `null` if the match begins at the anchor. */
  readonly back_over: Uint8Array | null;
  readonly back_units_max: number;
  /** True if the value can be found in several parts (split-token.ts), because it proves itself. */
  readonly can_join_parts: boolean;
  readonly is_words: boolean;
  readonly is_telling: boolean;
}

interface CompiledPattern {
  readonly pattern: RegExp | LinearPattern;
  readonly has_value: boolean;
  /**
   * The same pattern with the flag `d`, for the offsets of groups. It costs as much as several tries, so it runs only
   * after a match.
   */
  indices_pattern: RegExp | null;
  /** The work of one failed try. */
  readonly try_work: number;
}

/** Returns a detector in the form that a scan uses. Its pattern is compiled later. */
export function compileDetector(detector: Detector): CompiledDetector {
  return {
    detector,
    compiled_pattern: null,
    back_over: detector.back === undefined ? null : getUnitTable(detector.back.over),
    back_units_max: detector.back?.units_max ?? 0,
    can_join_parts: canJoinParts(detector),
    is_words: detector.is_words === true,
    is_telling: detector.is_telling === true,
  };
}

/** Returns whether values that were split can be joined: secrets and account numbers that prove themselves. */
function canJoinParts({ strength, tags, back, weight, id }: Detector): boolean {
  const isProof = strength === 'proof' && back === undefined && weight === undefined;
  return isProof && (tags[0].startsWith('secret.') || id === 'iban.number');
}

function compilePattern({ pattern, try_work }: Detector): CompiledPattern {
  const isLinear = 'find' in pattern;
  const hasValue = pattern.source.includes('(?<value>');
  return {
    pattern: isLinear ? pattern : makeSticky(pattern, 'y'),
    has_value: hasValue,
    indices_pattern: null,
    try_work: TRY_WORK + (isLinear ? 0 : (try_work ?? estimateTryWork(pattern))),
  };
}

function estimateTryWork(pattern: RegExp): number {
  return Math.min(measurePatternReach(pattern) * REACH_SHARE, REACH_WORK_MAX);
}

function makeSticky({ source, flags }: RegExp, more: 'y' | 'dy'): RegExp {
  return new RegExp(source, [...new Set(`${flags}${more}`.replace('g', ''))].join(''));
}

const unitTables = new Map<string, Uint8Array>();

/** Returns a table of 64 KB, shared between equal notations. */
function getUnitTable(notation: string): Uint8Array {
  const known = unitTables.get(notation);
  if (known !== undefined) return known;
  const units = new Uint8Array(0x10000);
  for (const [low, high] of parseUnits(notation)) units.fill(1, low, high + 1);
  unitTables.set(notation, units);
  return units;
}

/**
 * Returns where a match with its anchor at `from` begins: before the units of `over`, at most `units_max` of them.
 * The letter of an escape (`\n`) before an address belongs to the escape.
 */
export function findMatchStart(text: string, from: number, over: Uint8Array, unitsMax: number): number {
  const lowest = Math.max(0, from - unitsMax);
  let start = from;
  while (start > lowest && over[text.charCodeAt(start - 1)] === 1) start -= 1;
  const isEscape = start < from && text[start - 1] === '\\' && 'nrt'.includes(text[start]!);
  return isEscape ? start + 1 : start;
}

/** The fixed work of a check of digits. */
const DIGITS_WORK = 4;

/** Returns whether the only possible match is valid, by its digits; `units` is its length. Counts the work. */
export function hasValidDigits(
  { detector }: CompiledDetector,
  digits: string,
  units: number,
  meter: WorkMeter,
): boolean {
  const check = detector.validateDigits ?? (digits.length === units ? detector.validate : undefined);
  if (check === undefined) return true;
  meter.work += DIGITS_WORK + digits.length;
  return check(digits);
}

/**
 * Tries a detector's pattern at one offset, and the validator on its match; nothing before `least`. Counts the work.
 */
export function tryMatch(
  compiled: CompiledDetector,
  text: string,
  start: number,
  least: number,
  meter: WorkMeter,
): Match | null {
  const { detector } = compiled;
  if (detector.precheck !== undefined && !detector.precheck(text, start)) {
    meter.work += PRECHECK_WORK;
    return null;
  }
  compiled.compiled_pattern ??= compilePattern(detector);
  const { compiled_pattern } = compiled;
  const { pattern, has_value } = compiled_pattern;
  meter.work += compiled_pattern.try_work;
  if ('find' in pattern) {
    const span = pattern.find(text, start, least, meter);
    return span && { detector, start: span[0], end: span[1] };
  }
  pattern.lastIndex = start;
  const value = has_value ? execValue(pattern, text) : pattern.test(text) ? '' : null;
  if (value === null) return null;
  const end = pattern.lastIndex;
  meter.work += end - start;
  if (detector.validate !== undefined) {
    const units = has_value ? value : text.slice(start, end);
    meter.work += units.length * (detector.validate_work ?? VALIDATE_WORK);
    if (!detector.validate(units)) return null;
  }
  if (!has_value) return { detector, start, end };
  compiled_pattern.indices_pattern ??= makeSticky(pattern, 'dy');
  compiled_pattern.indices_pattern.lastIndex = start;
  const [from, to] = readValueGroup(compiled_pattern.indices_pattern.exec(text)!.indices!.groups)!;
  return { detector, start: from, end: to };
}

/** Returns the group `value` of a pattern that matches at its last index. */
function execValue(pattern: RegExp, text: string): string | null {
  return readValueGroup(pattern.exec(text)?.groups) ?? null;
}

/**
 * Returns the group `value`, or the one of its alternatives that matched. They have numbers, `value2` to `value4`,
 * because Node 20 and 22 refuse two groups of one name.
 */
function readValueGroup<Value>(
  groups: Readonly<Record<string, Value | undefined>> | undefined,
): Value | undefined {
  return groups?.value ?? groups?.value2 ?? groups?.value3 ?? groups?.value4;
}
