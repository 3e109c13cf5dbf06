import type { Policy } from '../core/types/index.ts';
import type { Runtime } from '../operations/runtime.ts';
import { openSubscribers, type Subscribers } from '../platform/cluster/event-bus.ts';
import { describeFault, type Log, openLog } from '../platform/log.ts';
import { openLazyStore, parseStoreSettings } from '../platform/store/index.ts';
import { type ApiKeys, openApiKeys } from '../runtime/access/api-keys.ts';
import { type Fence, openFence } from '../runtime/cluster/fence.ts';
import type { Config } from '../runtime/config/index.ts';
import { type Metrics, openMetrics } from '../runtime/observability/metrics.ts';
import { readPolicy } from '../runtime/policies/saved-policy.ts';
import { readIndexAddress } from './index-address.ts';
import { endpoints } from './operations.ts';
import { openRpcChannel, type RpcChannel } from './rpc-channel.ts';
import type { ParentMethods, WorkerMethods, WorkerStart } from './rpc-methods.ts';
import { type Coordinator, type OpenRuntime, openRuntime } from './runtime.ts';
import { buildStatePaths, buildUnwritableFailure, isDiskFailure } from './state-dir.ts';
import { openServiceStore } from './store.ts';
import { openProcessTelemetry } from './telemetry.ts';
import { openWriter } from './writer.ts';

/** The dependencies that the program of a worker uses to answer requests. */
export interface WorkerContext {
  readonly runtime: Runtime;
  /** Returns the LLM proxy. Loaded with the first model call. */
  readonly llm: OpenRuntime['llm'];
  readonly config: Config;
  /** Holds the API keys of the configuration, and of each reload. */
  readonly api_keys: ApiKeys;
  /** The address to listen on with `reusePort`, because all workers share it. */
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** The transport that the program of a worker opened. */
export interface WorkerTransport {
  /** Accepts no more requests. Resolves when all accepted requests are answered. */
  readonly close: () => Promise<void>;
  /** Loads the modules that the first requests need. Called after the first health checks. */
  readonly warm?: () => Promise<void>;
}

/** The delay before a new worker loads the modules that checks need, in milliseconds. */
const WARM_AFTER_MS = 100;
/** The time that requests in flight have when the worker stops, in milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Runs this process as a worker. Waits for the orders of the parent, opens the policy and the journal. When the parent
 * has opened everything else, calls `listen`, which opens the transport and resolves when it listens. Ends on request of
 * the parent, and when the parent exits. Only for a process that `startService` has forked.
 */
export function runWorker(listen: (context: WorkerContext) => Promise<WorkerTransport>): void {
  let state: WorkerState | null = null;
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= state?.close() ?? Promise.resolve();
    return closing;
  };
  const leave = async (code: number): Promise<never> => {
    setTimeout(() => process.exit(1), PATIENCE_MS).unref();
    await close().catch(() => {});
    process.exit(code);
  };

  const answers: WorkerMethods = {
    start: async (orders) => {
      state = await openWorkerState(orders, channel).catch((fault: unknown) => {
        throw isDiskFailure(fault) ? buildUnwritableFailure(orders.config.state_dir, fault) : fault;
      });
      return { started: true };
    },
    listen: async () => {
      const opened = requireState(state);
      opened.transport = await listen(opened.context);
      setTimeout(() => void state?.warm(), WARM_AFTER_MS).unref();
      return { listening: true };
    },
    prepare: (next) => requireState(state).prepare(next),
    commit: (next) => requireState(state).commit(next),
    abandon: (next) => requireState(state).abandon(next),
    api_keys: (keys) => {
      requireState(state).context.api_keys.replace(keys);
      return { taken: true };
    },
    metrics: async () => (await state?.snapshot()) ?? null,
    agents: () => state?.agents() ?? [],
    generation: () => requireState(state).generation(),
    erase_actions: (erasure) => requireState(state).eraseActions(erasure),
    events: async (batch) => {
      await (await requireState(state).hub()).receive(batch);
      return { received: true };
    },
    lease: (lease) => {
      requireState(state).fence?.useLease(lease);
      return { taken: true };
    },
    hint: (hint) => {
      requireState(state).hints.deliver(hint);
      return { taken: true };
    },
    stop: () => leave(0),
  };
  const channel = openRpcChannel<ParentMethods>(pipeToParent(), answers);

  // The parent was killed and no longer owns the state folder. Another service may take it, so this worker must
  // not continue to answer.
  process.once('disconnect', () => {
    channel.close();
    void leave(0);
  });
  process.once('SIGTERM', () => void leave(0));
  // A terminal sends these signals to parent and workers alike. Only the parent acts on them.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('uncaughtException', (fault) => {
    const log = state?.context.log ?? openLog({ level: 'error', name: 'worker' });
    log.error('the worker has a fault, and ends', describeFault(fault));
    void log.flush().finally(() => process.exit(1));
  });
}

function requireState(state: WorkerState | null): WorkerState {
  if (state === null) throw new Error('the worker has not begun');
  return state;
}

function pipeToParent() {
  if (process.send === undefined) throw new Error('A worker is started by the service, not by hand.');
  return {
    send: (message: unknown) => process.connected === true && process.send!(message, undefined, {}, () => {}),
    onMessage: (listener: (message: unknown) => void) => void process.on('message', listener),
  };
}

/** The open resources of a worker that serves. */
interface WorkerState {
  readonly context: WorkerContext;
  transport: WorkerTransport | null;
  readonly prepare: WorkerMethods['prepare'];
  readonly commit: WorkerMethods['commit'];
  readonly abandon: WorkerMethods['abandon'];
  readonly snapshot: () => ReturnType<WorkerMethods['metrics']>;
  readonly agents: () => readonly string[];
  readonly generation: () => number;
  readonly eraseActions: WorkerMethods['erase_actions'];
  readonly hub: OpenRuntime['hub'];
  readonly fence: Fence | null;
  readonly hints: Subscribers;
  readonly warm: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the metrics with a zero for every label of a check; `null` if metrics are disabled. */
function openWorkerMetrics(version: string, { metrics, server }: WorkerStart['config']): Metrics | null {
  return metrics.enabled ? openMetrics({ version, mode: server.mode, endpoints }) : null;
}

async function openWorkerState(
  orders: WorkerStart,
  channel: RpcChannel<ParentMethods>,
): Promise<WorkerState> {
  const { config, version, writer } = orders;
  const paths = buildStatePaths(config.state_dir);
  const log = openLog({ ...config.log, name: writer });
  const nowMs = Date.now;
  const metrics = openWorkerMetrics(version, config);
  const [policy, journal, telemetry] = await Promise.all([
    readPolicy(paths.policies, orders.policy_hash),
    config.audit.enabled ? openWriter(config, writer, log, () => open.ports().policy.hash, metrics) : null,
    openProcessTelemetry(config, version, writer, log),
  ]);
  const fence = orders.lease === null ? null : openFence(config.cluster, orders.lease);
  const hints = openSubscribers();
  const open = openRuntime({
    version,
    config,
    request: orders.request,
    started_ms: orders.started_ms,
    policy,
    journal,
    store: openLazyStore(() => openServiceStore(parseStoreSettings(config)), log),
    port: orders.port,
    index_address: () => readIndexAddress(config),
    metrics,
    telemetry,
    coordinator: buildChannelCoordinator(channel, writer),
    ...{ fence, subscribe: hints.subscribe },
    log,
    now_ms: nowMs,
  });
  const { runtime, llm } = open;
  const { host } = config.server;
  const apiKeys = openApiKeys(config.auth.api_keys);
  const context = { runtime, llm, config, api_keys: apiKeys, host, port: orders.port, log };
  const state: WorkerState = {
    context,
    transport: null,
    ...createPolicyExchange(open, paths.policies, orders.generation),
    snapshot: async () => (await metrics?.snapshot()) ?? null,
    ...{ agents: open.agents.list, hub: open.hub, fence, hints },
    eraseActions: async (erasure) => (await journal?.eraseActions(erasure)) ?? 0,
    warm: async () => {
      try {
        await open.warm();
        await state.transport?.warm?.();
      } catch (fault) {
        log.error('what checks need could not be loaded ahead', describeFault(fault));
      }
    },
    close: async () => {
      await open.release();
      await state.transport?.close();
      await journal?.close();
      await open.close();
      await telemetry?.close();
      await log.flush();
    },
  };
  return state;
}

/** The two phases of a reload: a policy is stored as prepared until all workers have it. */
function createPolicyExchange(
  open: OpenRuntime,
  policiesDir: string,
  firstGeneration: number,
): Pick<WorkerState, 'prepare' | 'commit' | 'abandon' | 'generation'> {
  const prepared = new Map<number, Policy>();
  let active = firstGeneration;
  return {
    prepare: async ({ generation, hash }) => {
      const policy = await readPolicy(policiesDir, hash);
      // All workers refuse a policy with which this process cannot judge, for example an allowlist of
      // fingerprints without its key.
      await open.warm(policy);
      prepared.set(generation, policy);
      return { prepared: true };
    },
    commit: ({ generation }) => {
      const policy = prepared.get(generation);
      if (policy === undefined) throw new Error(`generation ${generation} was not prepared`);
      prepared.clear();
      open.usePolicy(policy);
      active = generation;
      return { committed: true };
    },
    abandon: ({ generation }) => {
      prepared.delete(generation);
      return { abandoned: true };
    },
    generation: () => active,
  };
}

const REQUEST_TIMEOUT_MS = 5_000;
/**
 * The time limit of two questions of a health check: the agents of all workers, and the last reload. A health
 * check is repeated often, so a late answer is left out.
 */
const AGENTS_MS = 500;
const SYNC_MS = 10_000;
const RELOAD_MS = 60_000;
const HINT_MS = 1_000;
/** Nodes activate a change in a second, and this node waits three. */
const ACTIVE_MS = 10_000;
/** Erasing reads the whole journal. A later call completes what took longer. */
const ERASE_MS = 600_000;

function buildChannelCoordinator(channel: RpcChannel<ParentMethods>, worker: string): Coordinator {
  return {
    ready: () => channel.call('ready', null, REQUEST_TIMEOUT_MS),
    reloadFailure: () => channel.call('reload_failure', null, AGENTS_MS),
    metrics: () => channel.call('metrics', null, REQUEST_TIMEOUT_MS),
    agents: () => channel.call('agents', null, AGENTS_MS),
    processes: () => channel.call('processes', null, REQUEST_TIMEOUT_MS),
    plugins: () => channel.call('plugins', null, REQUEST_TIMEOUT_MS),
    cluster: () => channel.call('cluster', null, REQUEST_TIMEOUT_MS),
    awaitActive: () => channel.call('await_active', null, ACTIVE_MS),
    publish: async (hint) => void (await channel.call('publish', hint, HINT_MS).catch(() => {})),
    reload: (caller) => channel.call('reload', { caller_id: caller.id }, RELOAD_MS),
    activateKeys: async () => void (await channel.call('activate_keys', null, RELOAD_MS)),
    eraseActions: (erasure) => channel.call('erase_actions', erasure, ERASE_MS),
    syncIndex: async () => void (await channel.call('sync_index', null, SYNC_MS)),
    events: async (turn, wanted) =>
      (await channel.call('events', { worker, turn, wanted }, REQUEST_TIMEOUT_MS)).position,
  };
}
