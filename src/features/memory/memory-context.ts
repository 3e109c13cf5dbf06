import type { Content, Crossing, MemorySchema, MemoryUse, Tag } from '../../core/types/index.ts';
import { lazy } from '../../platform/lazy.ts';
import { describeFault, type Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { type BlockReason, enforce, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { EnforcementPorts, Ruling } from '../../runtime/enforcement/types.ts';
import type { Endpoint } from '../../runtime/observability/endpoint.ts';
import type { MemoryOwner } from './entry.ts';
import { type MasterKeySettings, type MasterKeys, readMasterKeys } from './master-keys.ts';
import { type MemoryClock, openMemoryClock } from './memory-clock.ts';
import { readMemoryState } from './rows.ts';
import type { MemorySubject } from './types.ts';

/** What memory needs of the world. */
export interface MemoryParts {
  readonly mode: 'sidecar' | 'gateway';
  readonly keys: MasterKeySettings;
  readonly limits: { readonly agent_entries_max: number; readonly agent_bytes_max: number };
  readonly store: () => Promise<Store>;
  /** The road to a verdict, with the policy in force. */
  readonly ports: () => EnforcementPorts;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady_ms: () => number;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** What stands open once it was needed. */
export interface MemoryStore {
  readonly store: Store;
  readonly keys: MasterKeys;
  readonly clock: MemoryClock;
}

/** One call: who asks for what, and the policy that it began with. */
export interface MemoryContext {
  readonly parts: MemoryParts;
  readonly ports: EnforcementPorts;
  readonly subject: MemorySubject;
  readonly caller: Caller;
  readonly openStore: () => Promise<MemoryStore>;
}

/** Names under which rules can mean memory, as they mean tools. */
const TOOLS = { write: 'memory.write', read: 'memory.read', resolve: 'memory.resolve_handle' } as const;
const ENDPOINTS = {
  write: 'memory_write',
  read: 'memory_read',
  resolve: 'memory_resolve_handle',
} as const satisfies Record<MemoryUse['operation'], Endpoint>;

/** Stands where no value crosses. */
export const NO_CONTENT: Content = { kind: 'json', value: null };

/** What goes into memory, as rules see it, or comes out of it. */
export function buildMemoryCrossing(
  { subject, ports }: MemoryContext,
  memory: MemoryUse,
  content: Content,
  declared_tags: readonly Tag[],
): Crossing {
  const { tenant_id, agent_id, session_id, source_agent_id, destination_agent_id } = subject;
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
export function judgeMemoryCrossing({ caller, ports }: MemoryContext, crossing: Crossing): Promise<Ruling> {
  return enforce(crossing, caller, ENDPOINTS[crossing.memory!.operation], {
    ...ports,
    resolveApproval: undefined,
  });
}

/** A no that needs no policy, written down. */
export function refuseMemoryCall(
  context: MemoryContext,
  memory: MemoryUse,
  objected: BlockReason,
): Promise<Ruling> {
  const crossing = buildMemoryCrossing(context, { ...memory, tag: null }, NO_CONTENT, []);
  return refuseCrossing(objected, crossing, context.caller, ENDPOINTS[memory.operation], context.ports);
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
export async function withMemoryStore<T>(
  context: MemoryContext,
  memory: MemoryUse,
  work: (opened: MemoryStore) => Promise<T>,
): Promise<T> {
  try {
    return await work(await context.openStore());
  } catch (fault) {
    context.parts.log.warn('memory cannot be used', describeFault(fault));
    await refuseMemoryCall(context, memory, STORE_FAULT);
    throw new Unavailable('Memory cannot be used at the moment: its store or its key cannot be read.', fault);
  }
}

/** Opens store, keys and clock with the first need of them, and again after a failure. */
export function openMemoryStore(parts: MemoryParts): () => Promise<MemoryStore> {
  return lazy(async (): Promise<MemoryStore> => {
    const store = await parts.store();
    const keys = readMasterKeys(parts.keys);
    if (keys === null) throw new Error('there is no master key of memory');
    const latest_ms = Number((await readMemoryState(store.db, 'latest_ms')) ?? 0);
    return { store, keys, clock: openMemoryClock(parts.ports().now_ms, parts.steady_ms, latest_ms) };
  }).open;
}

/** Whose entries a scope means for a caller; `null` where it does not say enough. */
export function resolveOwner(
  scope: MemorySchema['scope'],
  { parts, subject }: MemoryContext,
): MemoryOwner | null {
  const { tenant_id, agent_id, session_id, user_id } = subject;
  if (scope === 'global') return { tenant_id, agent_id, scope, subject: '' };
  const name = scope === 'session' ? session_id : user_id;
  // A sidecar serves one agent, so its calls without a name share one unnamed session or user.
  if (name === null && parts.mode === 'gateway') return null;
  return { tenant_id, agent_id, scope, subject: name ?? '' };
}
