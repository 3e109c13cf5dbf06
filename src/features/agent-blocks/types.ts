import type { Shown } from '../../platform/store/define-table.ts';
import type { blockedAgents } from './tables.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** The kill switch of agents. Rejects if the store cannot be opened. */
    readonly agentBlocks: () => Promise<AgentBlocks>;
  }
}

/** The kill switch. Its list is in the store, and every process applies a change within a second. */
export interface AgentBlocks {
  /** Blocks an agent. Returns `false` if it was already blocked. @throws StoreFailure */
  readonly block: (agentId: string, reason: string, callerId: string) => Promise<boolean>;
  /** Unblocks an agent. Returns `false` if it was not blocked. @throws StoreFailure */
  readonly unblock: (agentId: string, callerId: string) => Promise<boolean>;
  /** Lists all, by name. @throws StoreFailure */
  readonly list: () => Promise<readonly Shown<typeof blockedAgents>[]>;
}
