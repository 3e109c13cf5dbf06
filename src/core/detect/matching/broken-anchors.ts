import { type Automaton, findState, reserveStates } from './automaton.ts';
import type { WorkMeter } from './compiled-detector.ts';
import { findLayoutGap, findWordSpans, isWord, type LayoutPlaces, readWords } from './views/layout.ts';
import type { Windows } from './views/windows.ts';
import { chargeTransitions, getNextState } from './walk-automaton.ts';

/** Anchors, and per anchor its detector's number, which is negative for a signal. */
interface DetectorAnchors {
  readonly automaton: Automaton;
  readonly anchor_detector: Int32Array;
}

/** The units before an anchor that decide whether it may begin. */
const LOOKBEHIND_UNITS = 2;
/** The work for one check, besides its units. */
const CHECK_WORK = 16;

/** Returns the spans whose words are read without their layout. */
export function findWordPlaces(
  anchors: DetectorAnchors,
  text: string,
  places: LayoutPlaces & { readonly layout_spans: readonly number[] },
  meter: WorkMeter,
): Windows {
  const { layout_spans, failed_starts, telling_starts } = places;
  const broken = findBrokenAnchors(anchors, text, layout_spans, meter);
  return findWordSpans(text, { failed_starts: failed_starts.concat(broken), telling_starts });
}

/** Returns where words begin that belong to an anchor which layout breaks. */
export function findBrokenAnchors(
  anchors: DetectorAnchors,
  text: string,
  layoutSpans: readonly number[],
  meter: WorkMeter,
): readonly number[] {
  const starts: number[] = [];
  const { computed } = anchors.automaton;
  const transitionsBefore = computed.transitions;
  for (let at = 0; at < layoutSpans.length; at += 2) {
    const start = layoutSpans[at]!;
    if (isAnchorBroken(anchors, text, start, layoutSpans[at + 1]!, meter)) starts.push(start);
  }
  chargeTransitions(meter, computed.transitions - transitionsBefore);
  return starts;
}

/** Notes words with layout behind them; the longest, if several end together. */
export function noteLayout(layoutSpans: number[], start: number, end: number): void {
  if (layoutSpans.at(-1) !== end) layoutSpans.push(start, end);
  else layoutSpans[layoutSpans.length - 2] = Math.min(start, layoutSpans[layoutSpans.length - 2]!);
}

/**
 * Returns whether an anchor begins in front of the layout at the end of a signal and ends behind it, in the words of the text.
 * The words are walked twice, from the first unit of the signal and from the layout on. As long as an anchor
 * continues across the layout the two states differ.
 */
function isAnchorBroken(
  anchors: DetectorAnchors,
  text: string,
  start: number,
  end: number,
  meter: WorkMeter,
): boolean {
  const found = findLayoutGap(text, end);
  if (found === null) return false;
  const { automaton } = anchors;
  const unitsMax = automaton.trie.depth;
  meter.work += CHECK_WORK;
  reserveStates(automaton, 4 * unitsMax);
  const first = Math.max(0, start - LOOKBEHIND_UNITS);
  const middle = findState(automaton, []);
  let across = first === 0 ? automaton.start : middle;
  for (let at = first; at < found.start; at++) across = getNextState(automaton, across, text.charCodeAt(at));
  const states = { across, behind: middle };
  if (stepBoth(anchors, states, found.gap)) return true;
  let at = found.end;
  for (; isWord(text, at) && states.across !== states.behind; at++)
    if (stepBoth(anchors, states, text[at]!)) return true;
  if (states.across === states.behind) return false;
  const words = text.slice(at - 1, found.end + unitsMax);
  meter.work += words.length;
  // The unit in front keeps a list mark from being read at the start.
  return stepBoth(anchors, states, readWords(`x${words.slice(1)}`, [0, words.length]).text.slice(1));
}

/** Walks units from two states until they are the same. Returns whether an anchor ends that only the first one knows. */
function stepBoth(
  { automaton, anchor_detector }: DetectorAnchors,
  states: { across: number; behind: number },
  units: string,
): boolean {
  for (let at = 0; at < units.length && states.across !== states.behind; at++) {
    const unit = units.charCodeAt(at);
    states.across = getNextState(automaton, states.across, unit);
    states.behind = getNextState(automaton, states.behind, unit);
    const known = automaton.endings[states.behind]!;
    if (
      automaton.endings[states.across]!.some(
        (anchor) => anchor_detector[anchor]! >= 0 && !known.includes(anchor),
      )
    )
      return true;
  }
  return false;
}
