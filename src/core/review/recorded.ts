import type { JudgedFinding } from '../types.ts';

/** Kinds of findings that one event holds at most. */
const KINDS_MAX = 100;

/**
 * Findings as an audit event keeps them: `personal.pii.card+personal.financial.card high 2`, their tags, what the
 * detector said of their severity, and how many there were; in the order in which each was first found.
 */
export function foundTags(findings: readonly JudgedFinding[]): string[] {
  const counts = new Map<string, number>();
  for (const { tags, detected_severity } of findings) {
    const kind = `${tags.join('+')} ${detected_severity}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].slice(0, KINDS_MAX).map(([kind, count]) => `${kind} ${count}`);
}
