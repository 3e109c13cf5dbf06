import { detect } from '../../core/detect/detect.ts';
import type { Finding, Policy } from '../../core/types/index.ts';

/**
 * Returns whether a name, an id or an enum value of a provider has no findings except personal data. Ids are made of
 * digits, some of which look like phone or account numbers.
 */
export function isCleanIdentifier(word: string, { detection, limits }: Policy): boolean {
  const { findings, coverage } = detect({ kind: 'text', text: word }, detection, limits);
  if (coverage.status !== 'full') return false;
  return findings.every(({ tags }) => tags.every((tag) => /^personal\b/.test(tag)));
}

/** Returns whether a word has no findings at all, so that traces may contain it. */
export function hasNoFindings(word: string, { detection, limits }: Policy): boolean {
  const { findings, coverage } = detect({ kind: 'text', text: word }, detection, limits);
  return coverage.status === 'full' && findings.length === 0;
}

/** Returns whether two texts have no finding together that begins in the first and ends in the second. */
export function hasNoFindingsAcross(before: string, text: string, { detection, limits }: Policy): boolean {
  const { findings, coverage } = detect({ kind: 'text', text: before + text }, detection, limits);
  const isAcross = ({ start, end }: Finding): boolean => start < before.length && end > before.length;
  return coverage.status === 'full' && !findings.some(isAcross);
}
