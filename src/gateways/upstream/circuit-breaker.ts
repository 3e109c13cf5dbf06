import type { BreakerState } from '../../runtime/observability/call-counts.ts';

/** A circuit breaker per provider. Each worker process has its own state. */
export interface CircuitBreaker {
  /**
   * Begins a call; `null` while the circuit is open. The caller must report the outcome on the permit.
   * @param isOnly no other provider can serve the call, so it is allowed even while the circuit is open
   */
  readonly acquire: (provider: string, isOnly?: boolean) => BreakerPermit | null;
  /** Milliseconds until a call may be made again; 0 if it may now. */
  readonly waitFor: (provider: string) => number;
}

/** A permitted call. */
export interface BreakerPermit {
  readonly succeeded: () => void;
  /** May follow `succeeded` if the answer breaks off later. */
  readonly failed: () => void;
  /** Ends a call without an outcome, for example because the client disconnected. */
  readonly abandoned: () => void;
}

/** The section `proxy.circuit_breaker` of the configuration. */
export interface CircuitBreakerSettings {
  /** The number of failures in the window that opens the circuit. */
  readonly failures: number;
  /** The minimum share of failures among all calls; without it any share. */
  readonly failure_ratio?: number;
  readonly window_seconds: number;
  readonly open_seconds: number;
}

interface State {
  /** The times of the last failures, oldest first; at most `failures`. */
  failed_ms: number[];
  /** The counts of calls per part of the window, oldest first. */
  counts: CallCount[];
  /** When the circuit becomes half-open; `null` while it is closed. */
  open_until_ms: number | null;
  /** A probe call is in progress. */
  is_probed: boolean;
}

interface CallCount {
  readonly from_ms: number;
  succeeded: number;
  failed: number;
}

/** The number of parts of the window. */
const PARTS = 10;

/**
 * Opens a circuit breaker with all circuits closed.
 * @param nowMs a monotonic clock
 * @param onTransition receives the state of a provider whenever it changes
 */
export function openCircuitBreaker(
  settings: CircuitBreakerSettings,
  nowMs: () => number,
  onTransition: (provider: string, state: BreakerState) => void = () => {},
): CircuitBreaker {
  const states = new Map<string, State>();
  const stateOf = (provider: string): State => {
    const known = states.get(provider);
    if (known !== undefined) return known;
    const state: State = { failed_ms: [], counts: [], open_until_ms: null, is_probed: false };
    states.set(provider, state);
    onTransition(provider, 'closed');
    return state;
  };
  const mayEnter = ({ open_until_ms, is_probed }: State): boolean =>
    open_until_ms === null || (nowMs() >= open_until_ms && !is_probed);
  return {
    waitFor: (provider) => Math.max(0, (stateOf(provider).open_until_ms ?? 0) - nowMs()),
    acquire: (provider, isOnly = false) => {
      const state = stateOf(provider);
      if (!mayEnter(state) && !isOnly) return null;
      const isProbe = state.open_until_ms !== null;
      if (isProbe) {
        state.is_probed = true;
        onTransition(provider, 'half_open');
      }
      let isUnderWay = true;
      const leave = () => {
        if (isProbe && isUnderWay) state.is_probed = false;
        isUnderWay = false;
      };
      return {
        abandoned: () => {
          leave();
          if (isProbe) onTransition(provider, 'open');
        },
        succeeded: () => {
          leave();
          findCurrentCount(state, settings, nowMs()).succeeded += 1;
          if (!isProbe) return;
          Object.assign(state, { failed_ms: [], counts: [], open_until_ms: null });
          onTransition(provider, 'closed');
        },
        failed: () => {
          leave();
          if (recordFailure(state, isProbe, settings, nowMs())) onTransition(provider, 'open');
        },
      };
    },
  };
}

/** Records a failure and returns whether the circuit opens. */
function recordFailure(
  state: State,
  isProbe: boolean,
  settings: CircuitBreakerSettings,
  atMs: number,
): boolean {
  const sinceMs = atMs - settings.window_seconds * 1_000;
  const recent = [...state.failed_ms.filter((one) => one > sinceMs), atMs].slice(-settings.failures);
  state.failed_ms = recent;
  findCurrentCount(state, settings, atMs).failed += 1;
  // Calls that started before the circuit opened do not extend the open time.
  const isOpen = state.open_until_ms !== null;
  if (!isProbe && (isOpen || recent.length < settings.failures || !isAboveRatio(state, settings)))
    return false;
  state.open_until_ms = atMs + settings.open_seconds * 1_000;
  return true;
}

/** Returns the count for the current part of the window. Drops the parts that have ended. */
function findCurrentCount(state: State, { window_seconds }: CircuitBreakerSettings, atMs: number): CallCount {
  const partMs = (window_seconds * 1_000) / PARTS;
  state.counts = state.counts.filter(({ from_ms }) => from_ms > atMs - window_seconds * 1_000);
  const last = state.counts.at(-1);
  if (last !== undefined && atMs < last.from_ms + partMs) return last;
  const count = { from_ms: atMs, succeeded: 0, failed: 0 };
  state.counts.push(count);
  return count;
}

function isAboveRatio({ counts }: State, { failure_ratio = 0 }: CircuitBreakerSettings): boolean {
  const failed = counts.reduce((sum, each) => sum + each.failed, 0);
  const all = counts.reduce((sum, each) => sum + each.failed + each.succeeded, 0);
  return failed >= failure_ratio * all;
}
