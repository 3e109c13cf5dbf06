import type { Crossing } from '../../core/types/index.ts';

/** The result of a capability token, as a crossing carries it. */
export type CrossingCapability = NonNullable<Crossing['capability']>;

/** A token and what its bearer wants to do with it. */
export interface CapabilityPresentation {
  /** The token as it was sent. */
  readonly token: string;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly tool: string;
  readonly action: string;
  /** The secret to resolve; `null` for none. */
  readonly secret_key: string | null;
  /** The caller that sent it, as its credential proves it. */
  readonly caller_id: string;
  /**
   * True if a credential proves the caller. Wrong tokens are counted only then: callers that are trusted for
   * their address share one name, so one of them could lock out the others.
   */
  readonly has_credential: boolean;
}

/**
 * Presents a token for a crossing. `use` consumes one use, `check` only tests whether the token would be
 * accepted. Rejects for an internal fault only; an unreachable store is a refusal.
 */
export type PresentCapability = (
  how: 'use' | 'check',
  presented: CapabilityPresentation,
) => Promise<CrossingCapability>;

/** Refuses every token. A service without capability tokens uses it. */
export const refuseCapability: PresentCapability = async () => ({
  token_id: null,
  refusal: { rule: 'capability_token.unknown', reason: 'This service has no capability tokens.' },
});
