/** An agent that an operator has blocked. */
export interface BlockedAgent {
  readonly agent_id: string;
  readonly reason: string;
  readonly blocked_by: string;
  /** ISO 8601. */
  readonly blocked_at: string;
}

/** The kill switch. Its list is in the store, and every process applies a change within a second. */
export interface AgentBlocks {
  /** Blocks an agent. Returns `false` if it was already blocked. @throws StoreFailure */
  readonly block: (agent_id: string, reason: string, caller_id: string) => Promise<boolean>;
  /** Unblocks an agent. Returns `false` if it was not blocked. @throws StoreFailure */
  readonly unblock: (agent_id: string, caller_id: string) => Promise<boolean>;
  /** Lists all, by name. @throws StoreFailure */
  readonly list: () => Promise<readonly BlockedAgent[]>;
}
