import type { Store } from '../../../platform/store/index.ts';
import type { ValueIndex } from '../values/index.ts';

/** The lifetime of a session. */
export interface SessionLimits {
  /** Since its last use. */
  readonly idle_ms: number;
  /** Since its first tag. */
  readonly age_ms: number;
}

/** The dependencies of sessions. */
export interface SessionPorts {
  readonly store: () => Promise<Store>;
  readonly limits: SessionLimits;
  /** Converts a time of day to session time; see `openSessionClock`. */
  readonly timeOf: (nowMs: number) => number;
  /** The values that sessions have seen; without it, decisions that depend on them are blocked. */
  readonly values?: ValueIndex;
}

/** The sessions to reset. */
export interface SessionResetTarget {
  readonly tenant_id: string;
  /** `null`: calls outside any named session; then `agent_id` must be set. */
  readonly session_id: string | null;
  /** `null`: all agents in that session. */
  readonly agent_id: string | null;
}
