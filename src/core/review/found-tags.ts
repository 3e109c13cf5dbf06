import type { Finding, JudgedFinding, Severity, Tag } from '../types/index.ts';
import { SEVERITIES } from '../types/index.ts';

/** Maximum number of kinds in one event. */
const KINDS_MAX = 100;

/** An event's findings that are alike. Members are in the order in which they are written. */
export interface FoundKind {
  readonly tags: readonly [Tag, ...Tag[]];
  /** The severity from the detector. */
  readonly severity: Severity;
  readonly marks: Pick<Finding, 'example' | 'source' | 'is_whole'>;
  readonly count: number;
}

/**
 * Summarizes findings for the member `found_tags` of an audit event: `personal.pii.card+personal.financial.card high 2`.
 * Each kind has its tags, the severity from the detector and a count, in the order of its first finding. Documented
 * examples and the findings of classifiers are marked: `content.toxic high classifier whole 1`.
 */
export function summarizeFindings(findings: readonly JudgedFinding[]): string[] {
  const counts = new Map<string, number>();
  for (const finding of findings) {
    const kind = `${finding.tags.join('+')} ${finding.detected_severity}${getMark(finding)}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].slice(0, KINDS_MAX).map(([kind, count]) => `${kind} ${count}`);
}

const KIND = /^(\S+) (\S+)( example| classifier| classifier whole)? ([1-9]\d{0,8})$/;

/** Parses `found_tags`. An entry that is not as `summarizeFindings` writes it is `null`. */
export function parseFoundTags(recorded: unknown): readonly (FoundKind | null)[] {
  if (!Array.isArray(recorded)) return [];
  return recorded.slice(0, KINDS_MAX).map((entry: unknown) => {
    const [, tags = '', severity, mark, count] = (typeof entry === 'string' && KIND.exec(entry)) || [];
    if (!(SEVERITIES as readonly unknown[]).includes(severity)) return null;
    return {
      tags: tags.split('+') as [Tag, ...Tag[]],
      severity: severity as Severity,
      marks: readMark(mark),
      count: Number(count),
    };
  });
}

function getMark({ example, source, is_whole }: JudgedFinding): string {
  if (example === true) return ' example';
  if (source === undefined) return '';
  return is_whole === true ? ' classifier whole' : ' classifier';
}

function readMark(mark: string | undefined): FoundKind['marks'] {
  if (mark === undefined) return {};
  if (mark === ' example') return { example: true };
  return { source: 'classifier', ...(mark === ' classifier whole' && { is_whole: true }) };
}
