import type { Content, Crossing, MemorySchema, MemoryUse, Tag } from '../../core/types/index.ts';
import { lazy } from '../../platform/lazy.ts';
import { describeFault, type Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { type BlockReason, enforce, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { EnforcementPorts, Ruling } from '../../runtime/enforcement/types.ts';
import type { Endpoint } from '../../runtime/observability/endpoint.ts';
import { type MemoryClock, openClock } from './clock.ts';
import type { Owner } from './entry.ts';
import { type KeyPlace, type MasterKeys, readMasterKeys } from './master-keys.ts';
import { readState } from './rows.ts';
import type { MemoryAsking } from './types.ts';

/** What memory needs of the world. */
export interface MemoryParts {
  readonly mode: 'sidecar' | 'gateway';
  readonly keys: KeyPlace;
  readonly limits: { readonly agent_entries_max: number; readonly agent_bytes_max: number };
  readonly store: () => Promise<Store>;
  /** The road to a verdict, with the policy in force. */
  readonly ports: () => EnforcementPorts;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady_ms: () => number;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** What stands open once it was needed. */
export interface Vault {
  readonly store: Store;
  readonly keys: MasterKeys;
  readonly clock: MemoryClock;
}

/** One call: who asks for what, and the policy that it began with. */
export interface Desk {
  readonly parts: MemoryParts;
  readonly ports: EnforcementPorts;
  readonly asking: MemoryAsking;
  readonly caller: Caller;
  readonly vault: () => Promise<Vault>;
}

/** Names under which rules can mean memory, as they mean tools. */
const TOOLS = { write: 'memory.write', read: 'memory.read', resolve: 'memory.resolve_handle' } as const;
const ENDPOINTS = {
  write: 'memory_write',
  read: 'memory_read',
  resolve: 'memory_resolve_handle',
} as const satisfies Record<MemoryUse['operation'], Endpoint>;

/** Stands where no value crosses. */
export const NO_VALUE: Content = { kind: 'json', value: null };

/** What goes into memory, as rules see it, or comes out of it. */
export function crossingOf(
  { asking, ports }: Desk,
  memory: MemoryUse,
  content: Content,
  declared_tags: readonly Tag[],
): Crossing {
  const { tenant_id, agent_id, session_id, source_agent_id, destination_agent_id } = asking;
  return {
    boundary: 'action',
    phase: memory.operation === 'write' ? 'request' : 'response',
    content,
    tenant_id,
    agent_id,
    session_id,
    source_agent_id: source_agent_id ?? agent_id,
    destination_agent_id,
    tool: TOOLS[memory.operation],
    declared_tags,
    memory,
    now_ms: ports.now_ms(),
  };
}

/** The policy's answer, written down. Nobody is asked for approval: what is kept would stand in the request. */
export function judged({ caller, ports }: Desk, crossing: Crossing): Promise<Ruling> {
  return enforce(crossing, caller, ENDPOINTS[crossing.memory!.operation], {
    ...ports,
    resolveApproval: undefined,
  });
}

/** A no that needs no policy, written down. */
export function refused(desk: Desk, memory: MemoryUse, objected: BlockReason): Promise<Ruling> {
  const crossing = crossingOf(desk, { ...memory, tag: null }, NO_VALUE, []);
  return refuseCrossing(objected, crossing, desk.caller, ENDPOINTS[memory.operation], desk.ports);
}

const STORE_FAULT: BlockReason = {
  rule: 'fault.store',
  reason: 'The store of memory cannot be used at the moment.',
  fault: true,
};

/**
 * Does what needs the store. Where that fails it is written down as a block.
 *
 * @throws Unavailable which the next call may not meet
 */
export async function withVault<T>(
  desk: Desk,
  memory: MemoryUse,
  work: (vault: Vault) => Promise<T>,
): Promise<T> {
  try {
    return await work(await desk.vault());
  } catch (fault) {
    desk.parts.log.warn('memory cannot be used', describeFault(fault));
    await refused(desk, memory, STORE_FAULT);
    throw new Unavailable('Memory cannot be used at the moment: its store or its key cannot be read.', fault);
  }
}

/** Opens store, keys and clock with the first need of them, and again after a failure. */
export function openVault(parts: MemoryParts): () => Promise<Vault> {
  return lazy(async (): Promise<Vault> => {
    const store = await parts.store();
    const keys = readMasterKeys(parts.keys);
    if (keys === null) throw new Error('there is no master key of memory');
    const latest_ms = Number((await readState(store.db, 'latest_ms')) ?? 0);
    return { store, keys, clock: openClock(parts.ports().now_ms, parts.steady_ms, latest_ms) };
  }).open;
}

/** Whose entries a scope means for a caller; `null` where it does not say enough. */
export function ownerIn(scope: MemorySchema['scope'], { parts, asking }: Desk): Owner | null {
  const { tenant_id, agent_id, session_id, user_id } = asking;
  if (scope === 'global') return { tenant_id, agent_id, scope, subject: '' };
  const subject = scope === 'session' ? session_id : user_id;
  // With one agent on the machine, calls without a name are one unnamed session, apart from all others.
  if (subject === null && parts.mode === 'gateway') return null;
  return { tenant_id, agent_id, scope, subject: subject ?? '' };
}
