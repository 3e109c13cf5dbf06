import { setTimeout as wait } from 'node:timers/promises';
import type { BreakerState } from '../../runtime/observability/call-counts.ts';
import type { UpstreamFailureCode } from './failure.ts';

/** The clock, timers and observers of upstream calls. */
export interface UpstreamPorts {
  /** A monotonic clock, in milliseconds with any origin. */
  readonly now_ms: () => number;
  /** Returns a number from 0 up to, not including, 1. */
  readonly random: () => number;
  /** Resolves after the delay, or at once when the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls `ring` once after the delay. The returned function cancels the alarm. */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /**
   * Returns US dollars per million tokens, of which three quarters are input; `null` if unknown. For `strategy:
   * cost`.
   */
  readonly priceOf?: (provider: string, model: string) => number | null;
  /** Receives every attempt when its outcome is known. Must not throw. */
  readonly onTry?: (tried: UpstreamTry) => void;
  /** Receives a provider's circuit breaker state, on its first call and on each change. Must not throw. */
  readonly onBreakerState?: (provider: string, state: BreakerState) => void;
}

/** One attempt, for metrics and traces. It contains no text of the request or answer. */
export interface UpstreamTry {
  readonly provider: string;
  readonly model: string | null;
  /** The status of the answer; `null` without an answer. */
  readonly status: number | null;
  /** The reason why there is no answer, else `null`. */
  readonly failure: UpstreamFailureCode | null;
  /** The time until the answer began or the attempt failed, in milliseconds. */
  readonly duration_ms: number;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
}

/** The ports of this process. */
export const systemPorts: UpstreamPorts = {
  now_ms: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
