import type { Store } from '../../../platform/store/index.ts';

/** How long a session is remembered. */
export interface SessionLimits {
  /** Since it was last asked about. */
  readonly idle_ms: number;
  /** Since its first tag. */
  readonly age_ms: number;
}

/** What sessions need of the world. */
export interface SessionPorts {
  readonly store: () => Promise<Store>;
  readonly limits: SessionLimits;
  /** The time by which sessions are forgotten, for a time of day; see `sessionClock`. */
  readonly timeOf: (now_ms: number) => number;
}

/** Which sessions are reset. */
export interface SessionResetTarget {
  readonly tenant_id: string;
  /** `null`: what an agent does outside of any session that has a name; then the agent must be named. */
  readonly session_id: string | null;
  /** `null`: of all agents in that session. */
  readonly agent_id: string | null;
}
