import type { Content, Crossing, MemorySchema, MemoryUse, Tag } from '../../core/types/index.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { describeFault, type Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { buildToolCrossing } from '../../runtime/enforcement/crossings.ts';
import { type BlockReason, enforce, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { EnforcementPorts, Ruling } from '../../runtime/enforcement/types.ts';
import type { Endpoint } from '../../runtime/observability/endpoint.ts';
import type { MemoryOwner } from './entry.ts';
import { type MasterKeySettings, type MasterKeys, readMasterKeys } from './master-keys.ts';
import { type MemoryClock, openMemoryClock } from './memory-clock.ts';
import { readMemoryState } from './rows.ts';
import type { MemorySubject } from './types.ts';

/** The dependencies of memory. */
export interface MemoryParts {
  readonly mode: 'sidecar' | 'gateway';
  readonly keys: MasterKeySettings;
  readonly limits: { readonly agent_entries_max: number; readonly agent_bytes_max: number };
  readonly store: () => Promise<Store>;
  /** The enforcement ports with the active policy. */
  readonly ports: () => EnforcementPorts;
  /** Milliseconds of a monotonic clock. */
  readonly steady_ms: () => number;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** The resources that the first call opens. */
export interface MemoryStore {
  readonly store: Store;
  readonly keys: MasterKeys;
  readonly clock: MemoryClock;
}

/** One call: its caller and subject, and the policy that was active when it began. */
export interface MemoryContext {
  readonly parts: MemoryParts;
  readonly ports: EnforcementPorts;
  readonly subject: MemorySubject;
  readonly caller: Caller;
  readonly openStore: () => Promise<MemoryStore>;
}

/** The tool names by which rules match memory operations. */
const TOOLS = { write: 'memory.write', read: 'memory.read', resolve: 'memory.resolve_handle' } as const;
const ENDPOINTS = {
  write: 'memory_write',
  read: 'memory_read',
  resolve: 'memory_resolve_handle',
} as const satisfies Record<MemoryUse['operation'], Endpoint>;

/** The content of a crossing that carries no value. */
export const NO_CONTENT: Content = { kind: 'json', value: null };

/** Builds the crossing that rules evaluate when a value enters or leaves memory. */
export function buildMemoryCrossing(
  { subject, ports }: MemoryContext,
  memory: MemoryUse,
  content: Content,
  declaredTags: readonly Tag[],
): Crossing {
  const { tenant_id, agent_id, session_id, source_agent_id, destination_agent_id, principal } = subject;
  const acting = {
    tenant_id,
    agent_id,
    session_id,
    source_agent_id: source_agent_id ?? agent_id,
    ...(principal !== undefined && { principal }),
    declared_tags: declaredTags,
    now_ms: ports.now_ms(),
  };
  const phase = memory.operation === 'write' ? 'request' : 'response';
  const crossing = buildToolCrossing(acting, { phase, tool: TOOLS[memory.operation], content });
  // Memory is no agent, so a call without a destination has none.
  return { ...crossing, destination_agent_id, memory };
}

/**
 * Evaluates the policy and records the decision. Approval is never requested, because the approval request would
 * contain the value.
 */
export function judgeMemoryCrossing({ caller, ports }: MemoryContext, crossing: Crossing): Promise<Ruling> {
  return enforce(crossing, caller, ENDPOINTS[crossing.memory!.operation], {
    ...ports,
    resolveApproval: undefined,
  });
}

/** Blocks a call without evaluating the policy, and records it. */
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
 * Runs work that needs the store. A store failure is recorded as a block.
 *
 * @throws Unavailable if the store fails; a later call may succeed
 */
export async function useMemoryStore<T>(
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

/** Memory on first use, and again after a failure. */
export interface MemoryResources {
  /** @throws an error with the code `memory_key_missing` */
  readonly open: () => Promise<MemoryStore>;
  /** The parts for deleting: no key, which a service without memory documents does not have. */
  readonly openWithoutKeys: () => Promise<Pick<MemoryStore, 'store' | 'clock'>>;
}

/** Opens nothing yet: store, keys and clock are opened on the first use, and again after a failure. */
export function openMemoryResources(parts: MemoryParts): MemoryResources {
  const openWithoutKeys = createLazyValue(async () => {
    const store = await parts.store();
    const latestMs = Number((await readMemoryState(store.db, 'latest_ms')) ?? 0);
    return { store, clock: openMemoryClock(parts.ports().now_ms, parts.steady_ms, latestMs) };
  }).open;
  const { open } = createLazyValue(async (): Promise<MemoryStore> => {
    const keys = readMasterKeys(parts.keys);
    if (keys === null)
      throw Object.assign(new Error('there is no master key of memory'), { code: 'memory_key_missing' });
    return { ...(await openWithoutKeys()), keys };
  });
  return { open, openWithoutKeys };
}

/**
 * Returns the owner whose entries a scope selects for a caller; `null` if the caller does not name the session or user.
 */
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
