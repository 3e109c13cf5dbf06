import type {
  ActionCounts,
  ComplianceReport,
  ControlElement,
  ControlGap,
  ControlReport,
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

/** Formats the message of a gap with the tenants that it concerns. */
export function formatGapMessage({ message, tenants }: ControlGap): string {
  return tenants === null
    ? message
    : `${message} Tenant${tenants.length === 1 ? '' : 's'}: ${tenants.join(', ')}.`;
}

/** Formats the span of a gap or a state; empty for none. */
export function formatSpan(
  { since, until }: Pick<ControlGap, 'since' | 'until'>,
  window: ComplianceReport['window'],
): string {
  if (since === null || until === null) return '';
  if (since === window.since && until === window.until) return 'the whole window';
  if (since === window.recorded_since && until === window.until) return 'all of the recorded time';
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
  const WORDS = {
    active: 'active',
    available: 'available',
    monitor: 'monitor mode',
    inactive: 'not active',
  } as const;
  const ALL = {
    active: 'always active',
    available: 'available: see the events',
    monitor: 'always in monitor mode',
    inactive: 'never active',
  } as const;
  const [only, ...more] = states;
  if (
    only !== undefined &&
    more.length === 0 &&
    only.until === window.until &&
    only.since === window.recorded_since
  )
    return ALL[only.state];
  return states.map((each) => `${WORDS[each.state]}: ${formatSpan(each, window)}`).join('; ');
}

const STATUS_WORDS: Readonly<Record<ControlStatus, string>> = {
  enforced: 'Enforced',
  partly: 'Partly',
  gap: 'Gap',
  'outside this service': 'Outside this service',
};

/** Formats the status of a control with the share of its requirements that was active. */
export function formatStatus({ status, active }: Pick<ControlReport, 'status' | 'active'>): string {
  const WORDS = {
    all: 'all parts of this service were active during the whole window',
    some: 'some parts of this service were not active, or not all the time',
    none: 'no part of this service was active',
  };
  return active === null ? STATUS_WORDS[status] : `${STATUS_WORDS[status]}: ${WORDS[active]}`;
}

export const GAP_WORDS: Readonly<Record<ControlGap['kind'], string>> = {
  policy: 'policy',
  detector: 'detectors',
  record: 'record',
  framework: 'not from this service',
};

/** Formats the approval requests of a summary: `6 denied, 15 consumed; decided after 805 s on average`. */
export function formatApprovals({ approval_stats }: ComplianceReport['summary']): string {
  const { counts, average_latency_seconds: seconds } = approval_stats;
  const some = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${groupDigits(count)} ${status}`);
  if (some.length === 0) return 'none';
  return some.join(', ') + (seconds === null ? '' : `; decided after ${seconds} s on average`);
}
