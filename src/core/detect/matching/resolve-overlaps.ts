import { SEVERITIES } from '../../types/index.ts';
import type { Match } from './compiled-detector.ts';
import { type Detector, STRENGTHS } from './detector.ts';

/**
 * Sorts the matches of one text by offset and drops those that another one covers and explains: a generic `key = ...`
 * over a vendor's key, an address inside a connection string. The rest can still overlap in part; redaction merges
 * that. A secret is never dropped for something that is not a secret, nor a phrase for a milder one: a reading can
 * lower a quoted phrase that another reading finds outside a quotation.
 */
export function resolveOverlaps(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches;
  const sorted = [...matches].sort(
    (a, b) =>
      a.start - b.start ||
      b.end - a.end ||
      rankStrength(b) - rankStrength(a) ||
      rankPhrase(b) - rankPhrase(a),
  );
  const kept: Match[] = [];
  /**
   * Kept matches that reach beyond the current start; few at a time, because matches of one detector are disjoint.
   */
  let open: Match[] = [];
  for (const match of sorted) {
    open = open.filter((other) => other.end > match.start);
    if (open.some((other) => coversMatch(other, match))) continue;
    const beaten = open.filter((other) => isSameSpan(other, match) && coversMatch(match, other));
    for (const other of beaten) kept.splice(kept.lastIndexOf(other), 1);
    open = open.filter((other) => !beaten.includes(other));
    kept.push(match);
    open.push(match);
  }
  return kept;
}

function coversMatch(outer: Match, inner: Match): boolean {
  if (outer.end < inner.end || outer.start > inner.start) return false;
  if (isSecret(inner.detector) && !isSecret(outer.detector)) return false;
  if (isPhrase(inner.detector) !== isPhrase(outer.detector)) return false;
  if (isCommand(inner.detector) !== isCommand(outer.detector)) return false;
  if (isUserPattern(inner.detector) !== isUserPattern(outer.detector)) return false;
  if (isContent(inner.detector) !== isContent(outer.detector)) return false;
  return rankStrength(outer) >= rankStrength(inner) && rankPhrase(outer) >= rankPhrase(inner);
}

function isSameSpan(a: Match, b: Match): boolean {
  return a.start === b.start && a.end === b.end;
}

function rankStrength({ detector }: Match): number {
  return STRENGTHS.indexOf(detector.strength);
}

/** Returns the rank of a phrase by its severity, which is that of all phrases near it. */
function rankPhrase({ detector }: Match): number {
  return isPhrase(detector) ? SEVERITIES.indexOf(detector.severity) : 0;
}

/**
 * Returns whether a detector is a phrase. A phrase is a request of a text and not its content, so neither
 * explains the other.
 */
function isPhrase(detector: Detector): boolean {
  return detector.weight !== undefined;
}

/**
 * Returns whether a detector is a command. A command is an effect of a text, which does not explain its
 * content.
 */
function isCommand(detector: Detector): boolean {
  return detector.tags[0].startsWith('dangerous');
}

/**
 * Returns whether a detector is about the form of a text, such as hidden letters. The form does not explain
 * the content, and other rules apply to it.
 */
function isContent(detector: Detector): boolean {
  return detector.tags[0].startsWith('content');
}

/**
 * Returns whether a detector is a user's own pattern, for which other rules can apply than for a built-in
 * one.
 */
function isUserPattern({ pattern }: Detector): boolean {
  return 'find' in pattern;
}

function isSecret(detector: Detector): boolean {
  return detector.tags[0].startsWith('secret');
}
