import { parseUnits } from './anchors.ts';
import type { Detector, LinearPattern } from './detector.ts';
import { patternReach } from './pattern-reach.ts';

/** A match of a detector: UTF-16 offsets into the scanned text, end exclusive. */
export interface Match {
  readonly detector: Detector;
  readonly start: number;
  readonly end: number;
}

/**
 * Work, counted and not timed: one for each unit that is read, and for each attempt of a pattern its cost and
 * reach. A scan over the limit ends.
 */
export interface Meter {
  work: number;
  allowed: number;
  /** Number of transitions of the automaton that were computed for it. */
  ways?: number;
}

/** What a try costs whatever it looks at, the part of its reach that it looks at before it fails, and the most. */
const TRY_WORK = 16;
const REACH_SHARE = 1 / 16;
const REACH_WORK_MAX = 256;

/** Cost of a validator per unit of a value, if its detector has none. */
const VALIDATE_WORK = 8;

/** A detector in the form in which a scan uses it. */
export interface Probe {
  readonly detector: Detector;
  /** Made at the first try: most patterns are never tried in the life of a process. */
  trial: Trial | null;
  /** 1 for each unit to step back over; `null` where the anchor is the start. */
  readonly back_over: Uint8Array | null;
  readonly back_units_max: number;
}

/** Input of an attempt of a pattern. */
interface Trial {
  readonly pattern: RegExp | LinearPattern;
  readonly has_value: boolean;
  /** The same pattern, which says where its groups are: that costs as much as several tries, and is asked last. */
  placing: RegExp | null;
  /** Work of one try that fails. */
  readonly try_work: number;
}

/** A detector as it is tried. */
export function probeOf(detector: Detector): Probe {
  return {
    detector,
    trial: null,
    back_over: detector.back === undefined ? null : unitTable(detector.back.over),
    back_units_max: detector.back?.units_max ?? 0,
  };
}

function makeTrial({ pattern, try_work }: Detector): Trial {
  const is_linear = 'find' in pattern;
  const has_value = pattern.source.includes('(?<value>');
  return {
    pattern: is_linear ? pattern : sticky(pattern, 'y'),
    has_value,
    placing: null,
    try_work: TRY_WORK + (is_linear ? 0 : (try_work ?? lengthWork(pattern))),
  };
}

function lengthWork(pattern: RegExp): number {
  return Math.min(patternReach(pattern) * REACH_SHARE, REACH_WORK_MAX);
}

function sticky({ source, flags }: RegExp, more: 'y' | 'dy'): RegExp {
  return new RegExp(source, [...new Set(`${flags}${more}`.replace('g', ''))].join(''));
}

const unit_tables = new Map<string, Uint8Array>();

/** The same classes are the same table of 64 KB: there are few. */
function unitTable(notation: string): Uint8Array {
  const known = unit_tables.get(notation);
  if (known !== undefined) return known;
  const units = new Uint8Array(0x10000);
  for (const [low, high] of parseUnits(notation)) units.fill(1, low, high + 1);
  unit_tables.set(notation, units);
  return units;
}

/**
 * Returns the beginning of the match whose anchor is at `from`: before the units of `over`, at most `units_max` of them. The letter
 * of an escape (`\n`) before an address belongs to the escape, not to the address.
 */
export function stepBack(text: string, from: number, over: Uint8Array, units_max: number): number {
  const lowest = Math.max(0, from - units_max);
  let start = from;
  while (start > lowest && over[text.charCodeAt(start - 1)] === 1) start -= 1;
  const is_escape = start < from && text[start - 1] === '\\' && 'nrt'.includes(text[start]!);
  return is_escape ? start + 1 : start;
}

/** Work of checking digits, besides that of each. */
const DIGITS_WORK = 4;

/** Returns whether the only match that there can be is right, by its digits; `units` is its length. Counts the work. */
export function isRight({ detector }: Probe, digits: string, units: number, meter: Meter): boolean {
  const check = detector.validateDigits ?? (digits.length === units ? detector.validate : undefined);
  if (check === undefined) return true;
  meter.work += DIGITS_WORK + digits.length;
  return check(digits);
}

/** Tries a probe's pattern at one place, and the validator on what it finds; nothing before `least`. Counts the work. */
export function matchAt(
  probe: Probe,
  text: string,
  start: number,
  least: number,
  meter: Meter,
): Match | null {
  const { detector } = probe;
  probe.trial ??= makeTrial(detector);
  const { trial } = probe;
  const { pattern, has_value } = trial;
  meter.work += trial.try_work;
  if ('find' in pattern) {
    const span = pattern.find(text, start, least, meter);
    return span && { detector, start: span[0], end: span[1] };
  }
  pattern.lastIndex = start;
  const value = has_value ? valueAt(pattern, text) : pattern.test(text) ? '' : null;
  if (value === null) return null;
  const end = pattern.lastIndex;
  meter.work += end - start;
  if (detector.validate !== undefined) {
    const units = has_value ? value : text.slice(start, end);
    meter.work += units.length * (detector.validate_work ?? VALIDATE_WORK);
    if (!detector.validate(units)) return null;
  }
  if (!has_value) return { detector, start, end };
  trial.placing ??= sticky(pattern, 'dy');
  trial.placing.lastIndex = start;
  const [from, to] = trial.placing.exec(text)!.indices!.groups!.value!;
  return { detector, start: from, end: to };
}

/** The group `value` of a pattern that matches at its last index. */
function valueAt(pattern: RegExp, text: string): string | null {
  return pattern.exec(text)?.groups?.value ?? null;
}
