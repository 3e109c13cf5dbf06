import { listActingAgents } from '../../core/decision/rules.ts';
import { createMemoryValues, type MemoryValues } from '../../core/flow/memory-values.ts';
import { usesValues } from '../../core/flow/uses-values.ts';
import { hashTextPortably } from '../../core/policy/compile/portable-hash.ts';
import type { CrossingContext, Policy, ValuesSeen, Verdict } from '../../core/types/index.ts';

/** The values that the sessions of this process have seen. */
export interface LocalValues {
  /** Returns the crossing with its session's values, if a rule or a contract needs them. */
  readonly load: <Given extends CrossingContext>(crossing: Given) => Given;
  readonly save: (crossing: CrossingContext, verdict: Verdict, eventId: string) => void;
}

/** Sessions whose values are kept. A further one has none, so that contracts that need them block its calls. */
const SESSIONS_MAX = 1_000;
const HEX_DIGITS = 16;

/**
 * Creates one guard's values. The hashes never leave this process; their key only keeps content from being written
 * so that no run of its words is kept.
 *
 * @param createKey - returns a random text, and is called once
 */
export function createLocalValues(policy: Policy, createKey: () => string): LocalValues {
  const sessions = new Map<string, MemoryValues>();
  let key: string | null = null;
  const hashValue: ValuesSeen['hashValue'] = (form, text) => {
    key ??= hashTextPortably(createKey());
    return hashTextPortably(`${key}${form}\n${text}`).slice(0, HEX_DIGITS);
  };
  const find = (crossing: CrossingContext, agents: readonly string[]): MemoryValues | null => {
    const { tenant_id, session_id } = crossing;
    const id = JSON.stringify([tenant_id, session_id, ...agents]);
    const known = sessions.get(id);
    if (known !== undefined || sessions.size >= SESSIONS_MAX) return known ?? null;
    const created = createMemoryValues(hashValue);
    sessions.set(id, created);
    return created;
  };
  return {
    load: (crossing) => {
      if (!usesValues(policy, crossing.tenant_id)) return crossing;
      const values = find(crossing, listActingAgents(crossing));
      return values === null ? crossing : { ...crossing, values_seen: values.seen };
    },
    save: (crossing, { values_change }, eventId) => {
      if (values_change === null) return;
      const { phase, destination_agent_id } = crossing;
      // A message is read by its receiver.
      const isMessage = phase === 'message' && destination_agent_id !== null;
      const agents = isMessage ? [destination_agent_id] : listActingAgents(crossing);
      find(crossing, agents)?.save(values_change, eventId);
    },
  };
}
