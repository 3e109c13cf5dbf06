import { judge } from '../../decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../../testing/policies.ts';
import type { Crossing, Policy, Verdict } from '../../types/index.ts';
import { openStream, type StreamRelease } from '../stream.ts';

/**
 * Masks secrets and personal data and only flags other findings, so no finding ends a stream under this policy.
 */
export const MASKING: Policy = buildTestPolicy({
  rules: [
    { name: 'mask', boundary: 'input', data_tags: ['secret', 'personal'], action: 'redact' },
    {
      name: 'tell',
      boundary: 'input',
      data_tags: ['injection', 'dangerous', 'hidden', 'content', 'internal'],
      action: 'flag',
    },
  ],
});

/** The output of a stream, piece by piece, until it ended. */
export interface StreamRun {
  readonly released: readonly StreamRelease[];
  readonly text: string;
  readonly verdict: Verdict;
}

/** Sends the pieces through a stream. */
export function runStream(
  pieces: readonly (string | Uint8Array)[],
  policy: Policy = MASKING,
  crossing: Omit<Crossing, 'content'> = buildTestCrossing(),
): StreamRun {
  const stream = openStream(policy, crossing);
  const released: StreamRelease[] = [];
  for (const piece of pieces) {
    released.push(stream.push(piece));
    if (released.at(-1)!.verdict !== null) break;
  }
  if (released.at(-1)?.verdict === null || released.length === 0) released.push(stream.end());
  const verdict = released.at(-1)?.verdict;
  if (verdict === null || verdict === undefined) throw new Error('the stream has no verdict');
  return { released, text: released.map(({ text }) => text).join(''), verdict };
}

/** Cuts a text at the given offsets, which must ascend. */
export function cutText(text: string, places: readonly number[]): string[] {
  return [0, ...places].map((from, at) => text.slice(from, places[at] ?? text.length));
}

/** Cuts a text into pieces of one UTF-16 unit. */
export function splitUnits(text: string): string[] {
  return text.split('');
}

/** The expected result of a stream: the verdict on the whole text, and its content. */
export interface ExpectedRun {
  readonly verdict: Verdict;
  /** The verdict as JSON. */
  readonly written: string;
  readonly text: string;
}

/** Judges the whole text under a policy that blocks nothing. */
export function judgeWhole(text: string, policy: Policy = MASKING): ExpectedRun {
  const verdict = judge(buildTestCrossing({ content: { kind: 'text', text } }), policy);
  if (verdict.decision === 'block') throw new Error(verdict.reason);
  const content = verdict.content?.kind === 'text' ? verdict.content.text : text;
  return { verdict, written: JSON.stringify(verdict), text: content };
}

/**
 * Returns the difference between a run and the expected result; `null` if they agree and no other text was
 * released.
 */
export function findRunDifference(
  { released, text, verdict }: StreamRun,
  expected: ExpectedRun,
): string | null {
  let soFar = '';
  for (const piece of released) {
    soFar += piece.text;
    if (!expected.text.startsWith(soFar)) return `went on: ${JSON.stringify(soFar.slice(-80))}`;
  }
  if (text !== expected.text) return `ended early: ${verdict.reason}`;
  return JSON.stringify(verdict) === expected.written ? null : 'another verdict';
}
