import { listActingAgents } from '../../../core/decision/rules.ts';
import { covers } from '../../../core/tags.ts';
import type { Crossing, ValuesSeen, Verdict } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { LoadedValues, ValueIndex, ValuesOwner } from '../values/index.ts';
import type { SessionLimits, SessionPorts } from './types.ts';

/** The decision that values are read and saved for. */
export interface ValuesContext {
  readonly event_id: string;
  readonly caller_id: string;
  /** True if a person's words count only in a session that a coding agent has opened. */
  readonly requires_opened_session: boolean;
}

/** The session's values for one decision. */
export interface SessionValues {
  /** Returns the crossing with the values, and without a label that its session cannot have. */
  readonly addTo: (crossing: Crossing) => Crossing;
  /** Makes durable what an allowed crossing adds. @throws StoreFailure, Error */
  readonly save: (crossing: Crossing, verdict: Verdict) => Promise<void>;
}

/** Reads the values that a crossing's session has seen. @throws StoreFailure, Error */
export async function loadSessionValues(
  store: Store,
  crossing: Crossing,
  { caller_id, event_id, requires_opened_session }: ValuesContext,
  index: ValueIndex,
  limits: SessionLimits,
): Promise<SessionValues> {
  const owner = getOwner(crossing, caller_id);
  const load = (which: ValuesOwner) => index.load(store, which, crossing.now_ms, limits);
  // Calls outside any session belong to no task, so that a value from one conversation permits nothing in another.
  const loaded = crossing.session_id === null ? index.createEmpty(owner) : await load(owner);
  const isOpen = !requires_opened_session || loaded.origin === 'user';
  const speaks = isOpen && isSpoken(crossing) && !isChild(crossing, loaded);
  return {
    addTo: ({ content_label, ...about }) => ({
      ...about,
      values_seen: { ...loaded.seen, hashValue: keepHashes(loaded.seen.hashValue) },
      ...(content_label !== undefined && (speaks || !isUserLabel(content_label)) && { content_label }),
    }),
    save: async (decided, { values_change }) => {
      if (crossing.session_id === null) return;
      const receiver = getReceiver(decided, owner);
      const origin = receiver !== owner ? 'agent' : speaks ? 'user' : null;
      if (values_change === null && origin === null) return;
      const { add, end } = values_change ?? { add: [], end: [] };
      const target = receiver === owner ? loaded : await load(receiver);
      await index.save(store, target, { add, end, event_id, origin }, crossing.now_ms, limits);
    },
  };
}

/** The values whose hashes are kept during one decision, at most: those in a call, not those in a long result. */
const HASHES_KEPT_MAX = 64;

/** Keeps hashes for one decision, because a call's arguments are first checked and then recorded. */
function keepHashes(hashValue: ValuesSeen['hashValue']): ValuesSeen['hashValue'] {
  const kept = new Map<string, string>();
  return (form, text) => {
    const key = `${form} ${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const hashed = hashValue(form, text);
    if (kept.size < HASHES_KEPT_MAX) kept.set(key, hashed);
    return hashed;
  };
}

/**
 * Records that a coding agent opened a session. One that has seen values before is not opened again.
 * @throws StoreFailure, Error
 */
export async function recordOpening(
  actor: Pick<Crossing, 'tenant_id' | 'session_id' | 'agent_id' | 'source_agent_id' | 'now_ms'>,
  callerId: string,
  { store: open, limits, timeOf, values: index }: SessionPorts,
): Promise<void> {
  if (actor.session_id === null || index === undefined) return;
  const store = await open();
  const nowMs = timeOf(actor.now_ms);
  const loaded = await index.load(store, getOwner(actor, callerId), nowMs, limits);
  if (loaded.version !== null) return;
  await index.save(store, loaded, { add: [], end: [], event_id: '', origin: 'user' }, nowMs, limits);
}

/** Returns the session that a crossing's values belong to. */
export function getOwner(
  crossing: Pick<Crossing, 'tenant_id' | 'session_id' | 'agent_id' | 'source_agent_id' | 'principal'>,
  callerId: string,
): ValuesOwner {
  const { tenant_id, session_id, agent_id, source_agent_id, principal } = crossing;
  return {
    tenant_id,
    session_id: session_id ?? '',
    agent_id: source_agent_id ?? agent_id,
    caller_id: callerId,
    user_id: principal?.user?.user_id ?? '',
  };
}

/** Returns the session that receives the content if it passes. For a message, that is the receiver's session. */
function getReceiver({ phase, destination_agent_id }: Crossing, owner: ValuesOwner): ValuesOwner {
  const isMessage = phase === 'message' && destination_agent_id !== null;
  return isMessage && destination_agent_id !== owner.agent_id
    ? { ...owner, agent_id: destination_agent_id }
    : owner;
}

function isSpoken({ content_label }: Crossing): boolean {
  return content_label !== undefined && isUserLabel(content_label);
}

function isUserLabel(label: string): boolean {
  return covers('user', label);
}

/** Returns whether another agent gave the session its task. The words that it gets are not a person's then. */
export function isChild(
  acting: Pick<Crossing, 'agent_id' | 'source_agent_id' | 'principal'>,
  { origin }: LoadedValues,
): boolean {
  return origin === 'agent' || listActingAgents(acting).length > 1;
}
