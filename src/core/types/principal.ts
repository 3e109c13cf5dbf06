/** The ways in which an agent runs: in front of a person, called by another agent, on a schedule, or behind an API. */
export const AGENT_TIERS = ['interactive', 'subagent', 'background', 'api'] as const;
export type AgentTier = (typeof AGENT_TIERS)[number];

/** The most agents in a chain. */
export const CHAIN_LINKS_MAX = 16;

/** A person, as a verified credential or a trusted transport proves it. */
export interface ProvedUser {
  readonly user_id: string;
  readonly user_email: string | null;
  readonly groups: readonly string[];
  /** `null` if the credential says nothing about scopes; then none is proved. */
  readonly scopes: readonly string[] | null;
}

/** The person for whom agents act, and the agents in between. Proved members come from a credential. */
export interface Principal {
  /** `null` if no person is proved. */
  readonly user: ProvedUser | null;
  /** A name that the caller only states. It charges budgets and shows in reports, and satisfies no rule. */
  readonly claimed_user: string | null;
  /** The agents that act, the one next to the person first; empty for a direct call. */
  readonly chain: readonly string[];
  /** The tier that the credential proves. */
  readonly agent_tier: AgentTier | null;
  /** A tier that the caller only states. It can restrict and never allow. */
  readonly claimed_tier: AgentTier | null;
  /** The task that the caller names. It can restrict and never allow. */
  readonly task_id: string | null;
  /** Correlates one request's events through several services. It proves nothing. */
  readonly trace_id: string | null;
}

/** The principal for a call that names no person and no chain. */
export const NO_PRINCIPAL: Principal = Object.freeze({
  user: null,
  claimed_user: null,
  chain: Object.freeze([]),
  agent_tier: null,
  claimed_tier: null,
  task_id: null,
  trace_id: null,
});
