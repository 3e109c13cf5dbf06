import type { Runtime } from '../../operations/runtime.ts';
import type { PolicyInterval } from '../../runtime/audit/window-types.ts';
import { loadConditions } from '../../runtime/policies/conditions.ts';
import { openPolicyView, type PolicyView } from './policy-state.ts';

/** A time in which one policy decided; `view` is `null` if the policy is no longer saved. */
export interface TimelineInterval extends PolicyInterval {
  readonly view: PolicyView | null;
}

/** The policies of a window over time. */
export interface PolicyTimeline {
  readonly since_ms: number;
  readonly until_ms: number;
  /** Sorted by the beginning. Empty if nothing was decided up to the end of the window. */
  readonly intervals: readonly TimelineInterval[];
}

/** The policies that one report evaluates at most. More of them are reported as not evaluated. */
const POLICIES_MAX = 200;

/** Loads the policies that decided in a window. */
export async function loadPolicyTimeline(
  source: Pick<Runtime, 'auditWindow' | 'policyOf'>,
  window: { readonly since_ms: number; readonly until_ms: number },
): Promise<PolicyTimeline> {
  const views = new Map<string, PolicyView | null>();
  const intervals: TimelineInterval[] = [];
  for (const interval of await source.auditWindow.listPolicyIntervals(window)) {
    const { policy_hash } = interval;
    if (!views.has(policy_hash))
      views.set(policy_hash, views.size < POLICIES_MAX ? await loadView(source, policy_hash) : null);
    intervals.push({ ...interval, view: views.get(policy_hash) ?? null });
  }
  return { ...window, intervals };
}

async function loadView({ policyOf }: Pick<Runtime, 'policyOf'>, hash: string): Promise<PolicyView | null> {
  const policy = await policyOf(hash);
  return policy === null ? null : openPolicyView(policy, await loadConditions(policy).catch(() => null));
}

/** A time with one value. */
export interface Span<Value> {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly value: Value;
}

/**
 * Returns the spans of a value over the window: each policy's value in its interval, neighbours with the same text
 * joined. `format` gives the text that is compared. Intervals that overlap stay apart.
 */
export function listSpans<Value>(
  { intervals }: PolicyTimeline,
  read: (interval: TimelineInterval) => Value,
  format: (value: Value) => string,
): Span<Value>[] {
  const spans: { from_ms: number; to_ms: number; value: Value; text: string }[] = [];
  for (const interval of intervals) {
    const value = read(interval);
    const text = format(value);
    const joined = spans.findLast((span) => span.text === text && span.to_ms >= interval.from_ms);
    if (joined !== undefined) joined.to_ms = Math.max(joined.to_ms, interval.to_ms);
    else spans.push({ from_ms: interval.from_ms, to_ms: interval.to_ms, value, text });
  }
  return spans.map(({ from_ms, to_ms, value }) => ({ from_ms, to_ms, value }));
}
