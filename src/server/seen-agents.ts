/** The agents that were seen, by id; past the bound new ones are not noted. */
export interface SeenAgents {
  readonly note: (agent_id: string) => void;
  /** Sorted. */
  readonly list: () => string[];
}

/** How many ids are kept: a caller may make up any number of them. */
const AGENTS_MAX = 10_000;

/** Remembers agent ids; `unknown`, the name of who gave none, is no agent. */
export function openSeenAgents(agents_max = AGENTS_MAX): SeenAgents {
  const seen = new Set<string>();
  return {
    note: (agent_id) => {
      if (seen.size < agents_max && agent_id !== 'unknown') seen.add(agent_id);
    },
    list: () => [...seen].sort(),
  };
}
