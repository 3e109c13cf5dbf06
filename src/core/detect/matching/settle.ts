import { type Detector, STRENGTHS } from './detector.ts';
import type { Match } from './scanner.ts';

/**
 * Sorts the matches of one text by place and leaves out those that another one covers and explains: a
 * generic `key = ...` over a vendor's key, an address inside a connection string. What is left may still
 * overlap in part; redaction merges that. A secret is never left out for something that is no secret.
 */
export function settle(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches;
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end || rank(b) - rank(a));
  const kept: Match[] = [];
  /** Kept ones that reach beyond the current start; few at a time, for matches of one detector are apart. */
  let open: Match[] = [];
  for (const match of sorted) {
    open = open.filter((other) => other.end > match.start);
    if (open.some((other) => covers(other, match))) continue;
    const beaten = open.filter((other) => sameSpan(other, match) && covers(match, other));
    for (const other of beaten) kept.splice(kept.lastIndexOf(other), 1);
    open = open.filter((other) => !beaten.includes(other));
    kept.push(match);
    open.push(match);
  }
  return kept;
}

function covers(outer: Match, inner: Match): boolean {
  if (outer.end < inner.end || outer.start > inner.start) return false;
  if (isSecret(inner.detector) && !isSecret(outer.detector)) return false;
  if (isPhrase(inner.detector) !== isPhrase(outer.detector)) return false;
  if (isCommand(inner.detector) !== isCommand(outer.detector)) return false;
  if (isOwn(inner.detector) !== isOwn(outer.detector)) return false;
  if (isContent(inner.detector) !== isContent(outer.detector)) return false;
  return rank(outer) >= rank(inner);
}

function sameSpan(a: Match, b: Match): boolean {
  return a.start === b.start && a.end === b.end;
}

function rank({ detector }: Match): number {
  return STRENGTHS.indexOf(detector.strength);
}

/** What a text asks for, and not what stands in it: neither explains the other. */
function isPhrase(detector: Detector): boolean {
  return detector.weight !== undefined;
}

/** What a text would do: that explains nothing of what it holds. */
function isCommand(detector: Detector): boolean {
  return detector.tags[0].startsWith('dangerous');
}

/** How a text is written, as hidden letters are: that explains nothing of what it holds, and rules differ. */
function isContent(detector: Detector): boolean {
  return detector.tags[0].startsWith('content');
}

/** What a user asked for by a pattern of their own has a rule of its own, maybe, and what is built in has another. */
function isOwn({ pattern }: Detector): boolean {
  return 'find' in pattern;
}

function isSecret(detector: Detector): boolean {
  return detector.tags[0].startsWith('secret');
}
