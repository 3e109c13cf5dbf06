/** An agent that an operator has blocked. */
export interface BlockedAgent {
  readonly agent_id: string;
  readonly reason: string;
  readonly blocked_by: string;
  /** ISO 8601. */
  readonly blocked_at: string;
}

/** The kill switch: whom it stops is in the store, and in force within a second in every process. */
export interface AgentBlocks {
  /** Blocks an agent; `false` where it was blocked before. @throws StoreFailure */
  readonly block: (agent_id: string, reason: string, caller_id: string) => Promise<boolean>;
  /** Lets an agent go on; `false` where it was not blocked. @throws StoreFailure */
  readonly unblock: (agent_id: string, caller_id: string) => Promise<boolean>;
  /** Lists all, by name. @throws StoreFailure */
  readonly list: () => Promise<readonly BlockedAgent[]>;
}
