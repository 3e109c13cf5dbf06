import { detect } from '../../core/detect/detect.ts';
import type { Policy } from '../../core/types/index.ts';

/**
 * Whether nothing but personal data is found in a name, an id or a choice of a provider: ids are made of digits, some of
 * which look like a number of somebody.
 */
export function isCleanIdentifier(word: string, { detection, limits }: Policy): boolean {
  const { findings, coverage } = detect({ kind: 'text', text: word }, detection, limits);
  if (coverage.status !== 'full') return false;
  return findings.every(({ tags }) => tags.every((tag) => /^personal\b/.test(tag)));
}

/** Whether nothing at all is found in it, so that it may stand in a trace. */
export function hasNoFindings(word: string, { detection, limits }: Policy): boolean {
  const { findings, coverage } = detect({ kind: 'text', text: word }, detection, limits);
  return coverage.status === 'full' && findings.length === 0;
}
