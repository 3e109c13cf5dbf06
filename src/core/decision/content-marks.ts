import { isCoveredBy, normalizeTag } from '../tags.ts';
import type { CrossingContext, Verdict } from '../types/index.ts';

/**
 * The marks that content may have for its reader. `data`: it contains text that reads like instructions, and none of
 * them comes from the user.
 */
export const CONTENT_MARKS = ['data'] as const;
export type ContentMark = (typeof CONTENT_MARKS)[number];

const INJECTION = ['injection'];
const UNTRUSTED = ['untrusted'];
const NO_MARKS: readonly ContentMark[] = [];

/**
 * Returns the marks of content that may pass. Content from outside, in which a rule flags an injection, is marked as
 * data. A prompt of the user is not, and neither is what a rule blocks, masks or allows.
 */
export function listContentMarks(
  crossing: Pick<CrossingContext, 'phase' | 'declared_tags' | 'is_from_outside'>,
  { decision, findings }: Pick<Verdict, 'decision' | 'findings'>,
): readonly ContentMark[] {
  if (decision === 'block' || findings.length === 0 || !isFromOutside(crossing)) return NO_MARKS;
  const isFlagged = findings.some(
    ({ action, tags }) => action === 'flag' && tags.some((tag) => isCoveredBy(INJECTION, tag)),
  );
  return isFlagged ? CONTENT_MARKS : NO_MARKS;
}

/** Returns whether the content was not written by the user or the agent: a result, a file, or declared so. */
function isFromOutside({
  phase,
  declared_tags,
  is_from_outside,
}: Pick<CrossingContext, 'phase' | 'declared_tags' | 'is_from_outside'>): boolean {
  return (
    phase === 'response' ||
    is_from_outside === true ||
    declared_tags.some((tag) => isCoveredBy(UNTRUSTED, normalizeTag(tag)))
  );
}
