import type { Match, WorkMeter } from '../detect/matching/compiled-detector.ts';
import type { Detector } from '../detect/matching/detector.ts';
import { compileScanner, type Scanner, scanText } from '../detect/matching/scanner.ts';
import { compileCountingMatcher } from './steps.ts';

/** Two scanners of one detector: with its own pattern, and with a matcher that counts steps. */
export interface CountedDetector {
  readonly as_is: Scanner;
  readonly counting: Scanner;
  readonly tally: { steps: number; most: number };
}

/** Effort for one text: steps of the pattern, the most steps in one attempt, and the work that the meter charged. */
export interface DetectorEffort {
  readonly steps: number;
  readonly most: number;
  readonly charged: number;
  readonly matches: number;
}

/** Builds both scanners. Omits weights, because they do not affect the pattern. */
export function countDetector({ weight, validate, ...detector }: Detector): CountedDetector {
  const tally = { steps: 0, most: 0 };
  const { pattern } = detector;
  if ('find' in pattern) throw new Error(`${detector.id} has no pattern that could be counted.`);
  const matcher = compileCountingMatcher(pattern);
  const value = findValueGroups(pattern);
  const find = (text: string, start: number): readonly [number, number] | null => {
    const { end, spans, steps } = matcher(text, start);
    tally.steps += steps;
    tally.most = Math.max(tally.most, steps);
    if (end === null) return null;
    const number = value.find((each) => spans[each * 2] !== -1) ?? 0;
    return [spans[number * 2]!, spans[number * 2 + 1]!];
  };
  const bounds = { before_units_max: 0, units_max: Number.MAX_SAFE_INTEGER };
  const counting = { ...detector, pattern: { source: pattern.source, find, ...bounds } };
  return { as_is: compileScanner([detector]), counting: compileScanner([counting]), tally };
}

function findValueGroups({ source }: RegExp): readonly number[] {
  const opens = [...source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])(\w+)>/g)];
  const groups = opens.filter(([text]) => text.startsWith('('));
  return groups.flatMap(([, name], at) => (/^value[2-9]?$/.test(name ?? '') ? [at + 1] : []));
}

/** Scans a text with both scanners. Throws if their findings differ. */
export function measureEffort({ as_is, counting, tally }: CountedDetector, text: string): DetectorEffort {
  tally.steps = 0;
  tally.most = 0;
  const meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY };
  const found: Match[] = [];
  scanText(as_is, text, found, Number.POSITIVE_INFINITY, meter);
  const counted: Match[] = [];
  scanText(counting, text, counted, Number.POSITIVE_INFINITY);
  const spans = (matches: readonly Match[]): string =>
    matches.map(({ start, end }) => `${start}-${end}`).join();
  if (spans(found) !== spans(counted))
    throw new Error(
      `Counted otherwise than matched: ${JSON.stringify(text)}: ${spans(found)}; ${spans(counted)}`,
    );
  return { steps: tally.steps, most: tally.most, charged: meter.work - text.length, matches: found.length };
}
