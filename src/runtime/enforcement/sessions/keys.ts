import { listActingAgents } from '../../../core/decision/rules.ts';
import type { Crossing } from '../../../core/types/index.ts';

/** The key of a session: tenant, agent, and the name that the caller gave. */
export interface SessionKey {
  readonly tenant_id: string;
  /** Empty if the caller gave none: then the agent has one session for everything. */
  readonly session_id: string;
  readonly agent_id: string;
}

/** The agent id of a call that names no agent. */
const UNNAMED = 'unknown';

/** Returns the sessions of all acting agents. */
export function listSessionKeys(crossing: Crossing): readonly SessionKey[] {
  return listActingAgents(crossing).map((agentId) => getKey(crossing, agentId));
}

/**
 * Returns the sessions that receive the content if it passes. For a message, that is the receiver's session.
 */
export function listReaderKeys(crossing: Crossing): readonly SessionKey[] {
  const { phase, destination_agent_id } = crossing;
  if (phase !== 'message' || destination_agent_id === null) return listSessionKeys(crossing);
  return [getKey(crossing, destination_agent_id)];
}

/**
 * Returns the agents whose tags count for a crossing: the acting agents and, in a named session, calls without
 * an agent. If no agent is named, the tags of all agents in the session count: `everyone`.
 */
export function findTagOwners(crossing: Crossing): readonly string[] | 'everyone' {
  const actors = listActingAgents(crossing);
  if (crossing.session_id === null) return actors;
  return actors.includes(UNNAMED) ? 'everyone' : [...actors, UNNAMED];
}

function getKey({ tenant_id, session_id }: Crossing, agentId: string): SessionKey {
  return { tenant_id, session_id: session_id ?? '', agent_id: agentId };
}
