import type {
  ActionCounts,
  ComplianceReport,
  ControlElement,
  ControlGap,
  ControlStatus,
} from './report-types.ts';

/** Formats a number with a thin group separator that every font has: `12,345`. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** Formats a time for people: `2026-01-31 12:00:00 UTC`. */
export function formatUtcTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Formats the span of a gap or a state; empty for none. */
export function formatSpan(
  { since, until }: Pick<ControlGap, 'since' | 'until'>,
  window: ComplianceReport['window'],
): string {
  if (since === null || until === null) return '';
  if (since === window.since && until === window.until) return 'the whole window';
  return `${formatUtcTime(since)} to ${formatUtcTime(until)}`;
}

/** Formats counts by action: `12 blocked, 3 redacted`. */
export function formatActions(actions: ActionCounts): string {
  const words = [
    ['blocked', actions.block],
    ['held for approval', actions.require_approval],
    ['redacted', actions.redact],
    ['flagged', actions.flag],
    ['allowed', actions.allow],
  ] as const;
  return words
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${groupDigits(count)} ${word}`)
    .join(', ');
}

/** Formats when an element was active. */
export function formatStates({ states }: ControlElement, window: ComplianceReport['window']): string {
  const WORDS = { active: 'active', monitor: 'monitor mode', inactive: 'not active' } as const;
  const [only, ...more] = states;
  if (
    only !== undefined &&
    more.length === 0 &&
    only.until === window.until &&
    only.since === window.recorded_since
  )
    return `always ${WORDS[only.state]}`;
  return states.map((each) => `${WORDS[each.state]}: ${formatSpan(each, window)}`).join('; ');
}

export const STATUS_WORDS: Readonly<Record<ControlStatus, string>> = {
  enforced: 'Enforced during the whole window',
  partly: 'Partly: see the gaps',
  gap: 'Gap: not enforced',
  'outside this service': 'For the organization, outside this service',
};

export const GAP_WORDS: Readonly<Record<ControlGap['kind'], string>> = {
  policy: 'policy',
  detector: 'detectors',
  record: 'record',
  framework: 'not from this service',
};
