import { listActingAgents } from '../../../core/decision/rules.ts';
import type { Crossing } from '../../../core/types/index.ts';

/** Whose session: a tenant's, of one agent, under the name that the caller gave it. */
export interface SessionKey {
  readonly tenant_id: string;
  /** Empty where the caller named none: then an agent has one session for all it does. */
  readonly session_id: string;
  readonly agent_id: string;
}

/** What an agent is called that nobody named. */
const UNNAMED = 'unknown';

/** The sessions in which a crossing takes place: one for each who acts. */
export function listSessionKeys(crossing: Crossing): readonly SessionKey[] {
  return listActingAgents(crossing).map((agent_id) => keyOf(crossing, agent_id));
}

/** The sessions that have read what crosses, once it went through: of a message, that of who gets it. */
export function listReaderKeys(crossing: Crossing): readonly SessionKey[] {
  const { phase, destination_agent_id } = crossing;
  if (phase !== 'message' || destination_agent_id === null) return listSessionKeys(crossing);
  return [keyOf(crossing, destination_agent_id)];
}

/**
 * Whose tags count in a crossing: of those who act, and in a session with a name of those whom nobody named. Where
 * nobody says who acts, those of all agents in that session do: `everyone`.
 */
export function findTagOwners(crossing: Crossing): readonly string[] | 'everyone' {
  const actors = listActingAgents(crossing);
  if (crossing.session_id === null) return actors;
  return actors.includes(UNNAMED) ? 'everyone' : [...actors, UNNAMED];
}

function keyOf({ tenant_id, session_id }: Crossing, agent_id: string): SessionKey {
  return { tenant_id, session_id: session_id ?? '', agent_id };
}
