/** The ids of the agents that were seen. Beyond the limit, new ids are ignored. */
export interface SeenAgents {
  readonly note: (agentId: string) => void;
  /** Returns the ids in sorted order. */
  readonly list: () => string[];
}

/** The largest number of stored ids, because a caller can invent any number of them. */
const AGENTS_MAX = 10_000;

/** Opens a set of agent ids. `unknown`, the id of a caller without one, is not stored. */
export function openSeenAgents(agentsMax = AGENTS_MAX): SeenAgents {
  const seen = new Set<string>();
  return {
    note: (agentId) => {
      if (seen.size < agentsMax && agentId !== 'unknown') seen.add(agentId);
    },
    list: () => [...seen].sort(),
  };
}
