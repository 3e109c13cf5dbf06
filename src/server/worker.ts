import type { Policy } from '../core/types/index.ts';
import type { Runtime } from '../operations/runtime.ts';
import { describeFault, type Log, openLog } from '../platform/log.ts';
import { openLazyStore, parseStoreSettings } from '../platform/store/index.ts';
import { type ApiKeys, openApiKeys } from '../runtime/access/api-keys.ts';
import type { Config } from '../runtime/config/index.ts';
import { type Metrics, openMetrics } from '../runtime/observability/metrics.ts';
import { readPolicy } from '../runtime/policies/saved.ts';
import { endpoints } from './operations.ts';
import type { ParentAnswers, WorkerAnswers, WorkerOrders } from './protocol.ts';
import { openRpcChannel, type RpcChannel } from './rpc-channel.ts';
import { type Coordinator, type OpenRuntime, openRuntime } from './runtime.ts';
import { buildUnwritableFailure, isDiskFailure, statePaths } from './state-dir.ts';
import { openServiceStore } from './store.ts';
import { openProcessTelemetry } from './telemetry.ts';
import { openWriter } from './writer.ts';

/** What a worker's program gets to answer with. */
export interface WorkerContext {
  readonly runtime: Runtime;
  /** Calls of models. Loaded with the first call. */
  readonly llm: OpenRuntime['llm'];
  readonly config: Config;
  /** Those of the configuration, and of each reload. */
  readonly api_keys: ApiKeys;
  /** Where to listen, with `reusePort`: the other workers listen there too. */
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** The transport that a worker's program opened. */
export interface WorkerTransport {
  /** Accepts nothing more; resolves when all that was accepted is answered. */
  readonly close: () => Promise<void>;
  /** Loads what the first requests would else wait for; called when the first health checks are answered. */
  readonly warm?: () => Promise<void>;
}

/** When a worker that has just begun to listen loads what checks need. */
const WARM_AFTER_MS = 100;
/** How long requests in flight have when the worker stops. */
const PATIENCE_MS = 10_000;

/**
 * Runs this process as a worker: waits for the parent's orders, opens policy and journal, then has `listen`
 * open the transport, which resolves when it listens. Ends when the parent says so, and by itself when the
 * parent is gone. Only for a process that `startService` has forked.
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

  const answers: WorkerAnswers = {
    start: async (orders) => {
      state = await openWorkerState(orders, channel).catch((fault: unknown) => {
        throw isDiskFailure(fault) ? buildUnwritableFailure(orders.config.state_dir, fault) : fault;
      });
      state.transport = await listen(state.context);
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
    events: async (batch) => {
      await (await requireState(state).hub()).receive(batch);
      return { received: true };
    },
    stop: () => leave(0),
  };
  const channel = openRpcChannel<ParentAnswers>(pipeToParent(), answers);

  // The parent was killed: what it owned is free for another service, so this one must not go on answering.
  process.once('disconnect', () => {
    channel.close();
    void leave(0);
  });
  process.once('SIGTERM', () => void leave(0));
  // A terminal sends these to parent and workers alike; the parent says what to do.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
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

/** All that a worker holds while it serves. */
interface WorkerState {
  readonly context: WorkerContext;
  transport: WorkerTransport | null;
  readonly prepare: WorkerAnswers['prepare'];
  readonly commit: WorkerAnswers['commit'];
  readonly abandon: WorkerAnswers['abandon'];
  readonly snapshot: () => ReturnType<WorkerAnswers['metrics']>;
  readonly agents: () => readonly string[];
  readonly hub: OpenRuntime['hub'];
  readonly warm: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the metrics with a zero for every label of a check; `null` if metrics are disabled. */
function openWorkerMetrics(version: string, { metrics, server }: WorkerOrders['config']): Metrics | null {
  return metrics.enabled ? openMetrics({ version, mode: server.mode, endpoints }) : null;
}

async function openWorkerState(
  orders: WorkerOrders,
  channel: RpcChannel<ParentAnswers>,
): Promise<WorkerState> {
  const { config, version, writer } = orders;
  const paths = statePaths(config.state_dir);
  const log = openLog({ ...config.log, name: writer });
  const now_ms = Date.now;
  const metrics = openWorkerMetrics(version, config);
  const [policy, journal, telemetry] = await Promise.all([
    readPolicy(paths.policies, orders.policy_hash),
    config.audit.enabled ? openWriter(config, writer, log, metrics) : null,
    openProcessTelemetry(config, version, writer, log),
  ]);
  const open = openRuntime({
    version,
    config,
    started_ms: orders.started_ms,
    policy,
    journal,
    store: openLazyStore(() => openServiceStore(parseStoreSettings(config)), log),
    index_path: paths.index,
    metrics,
    telemetry,
    coordinator: buildChannelCoordinator(channel, writer),
    log,
    now_ms,
  });
  const { runtime, llm } = open;
  const { host } = config.server;
  const api_keys = openApiKeys(config.auth.api_keys);
  const context = { runtime, llm, config, api_keys, host, port: orders.port, log };
  const state: WorkerState = {
    context,
    transport: null,
    ...exchange(open, paths.policies),
    snapshot: async () => (await metrics?.snapshot()) ?? null,
    agents: open.agents.list,
    hub: open.hub,
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

/** The two halves of a reload: a policy is kept aside until all workers have it. */
function exchange(
  open: OpenRuntime,
  policies_dir: string,
): Pick<WorkerState, 'prepare' | 'commit' | 'abandon'> {
  const prepared = new Map<number, Policy>();
  return {
    prepare: async ({ generation, hash }) => {
      const policy = await readPolicy(policies_dir, hash);
      // What this process cannot judge by is refused everywhere: a list of fingerprints without its key, say.
      await open.warm(policy);
      prepared.set(generation, policy);
      return { prepared: true };
    },
    commit: ({ generation }) => {
      const policy = prepared.get(generation);
      if (policy === undefined) throw new Error(`generation ${generation} was not prepared`);
      prepared.clear();
      open.usePolicy(policy);
      return { committed: true };
    },
    abandon: ({ generation }) => {
      prepared.delete(generation);
      return { abandoned: true };
    },
  };
}

const ASK_MS = 5_000;
/** A health check is soon asked again, and does without what takes longer: agents of other workers, the last reload. */
const AGENTS_MS = 500;
const SYNC_MS = 10_000;
const RELOAD_MS = 60_000;

function buildChannelCoordinator(channel: RpcChannel<ParentAnswers>, worker: string): Coordinator {
  return {
    ready: () => channel.ask('ready', null, ASK_MS),
    reloadFailure: () => channel.ask('reload_failure', null, AGENTS_MS),
    metrics: () => channel.ask('metrics', null, ASK_MS),
    agents: () => channel.ask('agents', null, AGENTS_MS),
    plugins: () => channel.ask('plugins', null, ASK_MS),
    reload: (caller) => channel.ask('reload', { caller_id: caller.id }, RELOAD_MS),
    syncIndex: async () => void (await channel.ask('sync_index', null, SYNC_MS)),
    events: async (turn, wanted) => (await channel.ask('events', { worker, turn, wanted }, ASK_MS)).position,
  };
}
