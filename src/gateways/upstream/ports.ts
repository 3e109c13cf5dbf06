import { setTimeout as wait } from 'node:timers/promises';
import type { BreakerState } from '../../runtime/observability/call-counts.ts';
import type { UpstreamFailureCode } from './failure.ts';

/** What sending needs of the world. */
export interface UpstreamPorts {
  /** A clock that never jumps, in milliseconds; its zero does not matter. */
  readonly now_ms: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Resolves after that time, or at once when the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Rings once after that time, unless it is called off by what this gives back. */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /** US dollars for a million tokens, three quarters of which go in; `null` where nobody knows. For `strategy: cost`. */
  readonly priceOf?: (provider: string, model: string) => number | null;
  /** Told of every try when its outcome is known. Must not throw. */
  readonly onTry?: (tried: UpstreamTry) => void;
  /** Told how a provider stands with the circuit breaker, when it is first asked and when that changes. Must not throw. */
  readonly onBreakerState?: (provider: string, state: BreakerState) => void;
}

/** One try, for metrics and traces; it holds nothing of what was asked or answered. */
export interface UpstreamTry {
  readonly provider: string;
  readonly model: string | null;
  /** Of the answer; `null` where there is none. */
  readonly status: number | null;
  /** Why there is none. */
  readonly failure: UpstreamFailureCode | null;
  /** Until the answer began, or the try failed. */
  readonly duration_ms: number;
  /** 1 for the first try of a call. */
  readonly attempt: number;
}

/** Those of this process. */
export const systemPorts: UpstreamPorts = {
  now_ms: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
