import type { BreakerState } from '../../call-counts.ts';

/** Leaves a provider alone that keeps failing. One per process: what one worker sees, the others see for themselves. */
export interface Breaker {
  /** Begins a call; `null` where none may be made. One of its ways out must be taken. */
  readonly enter: (provider: string) => Passage | null;
}

/** A call that is under way. */
export interface Passage {
  readonly succeeded: () => void;
  /** Also after it had succeeded, where the answer broke off later. */
  readonly failed: () => void;
  /** Nothing was learned: whoever asked went away. */
  readonly left: () => void;
}

export interface BreakerSettings {
  readonly failures: number;
  readonly window_seconds: number;
  readonly open_seconds: number;
}

interface State {
  /** When the last failures were, the oldest first; at most as many as open it. */
  failed_ms: number[];
  /** Until when it is left alone; `null` while it is not. */
  open_until_ms: number | null;
  /** Somebody is finding out whether it is back. */
  is_probed: boolean;
}

/**
 * @param now_ms a clock that never jumps
 * @param tell is told how a provider stands, whenever that changes
 */
export function openBreaker(
  settings: BreakerSettings,
  now_ms: () => number,
  tell: (provider: string, state: BreakerState) => void = () => {},
): Breaker {
  const states = new Map<string, State>();
  const stateOf = (provider: string): State => {
    const known = states.get(provider);
    if (known !== undefined) return known;
    const state: State = { failed_ms: [], open_until_ms: null, is_probed: false };
    states.set(provider, state);
    tell(provider, 'closed');
    return state;
  };
  const mayEnter = ({ open_until_ms, is_probed }: State): boolean =>
    open_until_ms === null || (now_ms() >= open_until_ms && !is_probed);
  return {
    enter: (provider) => {
      const state = stateOf(provider);
      if (!mayEnter(state)) return null;
      const is_probe = state.open_until_ms !== null;
      if (is_probe) {
        state.is_probed = true;
        tell(provider, 'half_open');
      }
      let is_under_way = true;
      const leave = () => {
        if (is_probe && is_under_way) state.is_probed = false;
        is_under_way = false;
      };
      return {
        left: () => {
          leave();
          if (is_probe) tell(provider, 'open');
        },
        succeeded: () => {
          leave();
          if (!is_probe) return;
          Object.assign(state, { failed_ms: [], open_until_ms: null });
          tell(provider, 'closed');
        },
        failed: () => {
          leave();
          if (fail(state, is_probe, settings, now_ms())) tell(provider, 'open');
        },
      };
    },
  };
}

/** Whether it is left alone from now on. */
function fail(state: State, is_probe: boolean, settings: BreakerSettings, at_ms: number): boolean {
  const since_ms = at_ms - settings.window_seconds * 1_000;
  const recent = [...state.failed_ms.filter((one) => one > since_ms), at_ms].slice(-settings.failures);
  state.failed_ms = recent;
  // Those that were under way when it opened do not keep it open for longer.
  const is_open = state.open_until_ms !== null;
  if (!is_probe && (is_open || recent.length < settings.failures)) return false;
  state.open_until_ms = at_ms + settings.open_seconds * 1_000;
  return true;
}
