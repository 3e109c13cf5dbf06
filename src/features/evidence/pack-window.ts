import { AuditFilterError, parseFilter } from '../../runtime/audit/filter.ts';
import type { EvidenceWindow } from './types.ts';

const LAST_DEFAULT = '90d';

interface WindowInput {
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  readonly last?: string | null | undefined;
}

/**
 * Parses the window of a pack. A time is ISO 8601 or a duration before now. `last` overrides the others; without any,
 * the window is the last 90 days.
 *
 * @throws AuditFilterError
 */
export function parsePackWindow(input: WindowInput, nowMs: number): EvidenceWindow {
  const { since, until } = input;
  const last = input.last || (since ? null : LAST_DEFAULT);
  const filter = last === null ? { ...(since && { since }), ...(until && { until }) } : { last };
  const parsed = parseFilter(filter, nowMs);
  const window = { since_ms: parsed.since_ms ?? 0, until_ms: Math.min(nowMs, parsed.until_ms ?? nowMs) };
  if (window.since_ms >= window.until_ms)
    throw new AuditFilterError('since', 'must be before the end of the window, and in the past');
  return window;
}
