import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Policy } from '../core/types/index.ts';
import { recordSecretReads } from '../features/secrets/secret-read-events.ts';
import type { Runtime } from '../operations/runtime.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { openSerialQueue } from '../platform/queue/serial-queue.ts';
import { openLazyStore, type Store } from '../platform/store/index.ts';
import { describeStoreFault } from '../platform/store/lazy.ts';
import { type MaintenanceLoop, startMaintenance } from '../platform/store/maintenance.ts';
import { needsAgentToken } from '../runtime/access/index.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import { ensureToken } from '../runtime/access/tokens.ts';
import { type EventFeed, openEventFeed } from '../runtime/audit/events/feed.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { createOrder } from '../runtime/audit/order.ts';
import type { Config } from '../runtime/config/index.ts';
import { resolveRealPath } from '../runtime/config/real-file.ts';
import { type Metrics, openMetrics } from '../runtime/observability/metrics.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import { savePolicy } from '../runtime/policies/saved.ts';
import type { SecretReading } from '../runtime/secrets/references.ts';
import { type IndexFiller, openIndexFiller } from './indexing.ts';
import type { buildMaintenanceJobs } from './maintenance-jobs.ts';
import { openMetricsSum } from './metrics-sum.ts';
import { admitPolicy, type OwnStore, openOwnStore } from './owner-store.ts';
import type { ParentAnswers, WorkerOrders } from './protocol.ts';
import { openPolicyReloader, type PolicyLoad, type PolicyReloader } from './reloading.ts';
import { type Coordinator, openRuntime } from './runtime.ts';
import { openSeenAgents } from './seen-agents.ts';
import {
  type DaemonHandlers,
  type Dispatch,
  type FollowTrail,
  openSocketServer,
  type ServiceStatus,
  type SocketServer,
} from './socket-server.ts';
import { statePaths } from './state-dir.ts';
import { openProcessTelemetry } from './telemetry.ts';
import { openWorkers, type WorkerProcess, type Workers } from './workers.ts';
import { openWriter } from './writer.ts';

export interface ParentParts {
  readonly version: string;
  readonly config: Config;
  readonly policy: Policy;
  readonly plugins: PluginsInUse;
  /** Secrets that the configuration asked for. */
  readonly secret_readings: readonly SecretReading[];
  readonly loadPolicy: () => Promise<PolicyLoad>;
  readonly started_ms: number;
  /** `null` where nothing listens but the socket. */
  readonly url: string | null;
  readonly port: number;
  /** `null`: a resident process, without workers. */
  readonly worker_url: URL | null;
  readonly spare: WorkerProcess | null;
  readonly dispatch: Dispatch;
  readonly resident: DaemonHandlers | null;
  readonly log: Log;
}

/** The process that owns the state folder and keeps the workers; it answers no requests itself. */
export interface Parent {
  readonly status: () => ServiceStatus;
  readonly reload: (caller_id: string) => Promise<ReloadReport>;
  /** Lets all that was accepted be answered, for at most `patience_ms`; then closes everything. */
  readonly stop: (patience_ms: number) => Promise<{ readonly forced: boolean }>;
  /** Ends the workers at once. */
  readonly kill: () => Promise<void>;
}

/** Where there are no workers, none is ever started. */
const NO_PROGRAM = new URL('data:,');
const GATHER_MS = 2_000;
const AGENTS_LISTED_MAX = 1_000;

/** What is opened only after the workers, which ask for it. */
interface Late {
  readonly feed: EventFeed;
  indexing: IndexFiller | null;
  reloading: PolicyReloader | null;
  store: Store | null;
  api_keys: readonly ApiKey[];
}

const NOT_OPEN = { indexing: null, reloading: null, store: null };

/** Opens journal, workers, socket and index; resolves when all workers listen. */
export async function openParent(parts: ParentParts): Promise<Parent> {
  const { config, log, version } = parts;
  const paths = statePaths(config.state_dir);
  await savePolicy(paths.policies, parts.policy);
  const inTurn = openSerialQueue();
  const late: Late = { feed: openEventFeed(log), ...NOT_OPEN, api_keys: config.auth.api_keys };
  const metrics = config.metrics.enabled ? metricsOfParent(version, config, late) : null;
  const reload = (caller_id: string): Promise<ReloadReport> =>
    inTurn(() => late.reloading?.reload(caller_id) ?? Promise.reject(new Error('The service is starting.')));
  const metricsOfAll = openMetricsSum(() => workers.serving(), metrics);
  const coordinator = buildCoordinator(config, late, metricsOfAll, () => workers, reload, parts.plugins);
  const workers = openWorkers({
    url: parts.worker_url ?? NO_PROGRAM,
    count: parts.worker_url === null ? 0 : config.server.workers,
    spare: parts.spare,
    log,
    inTurn,
    answers: answersOf(coordinator, reload, (by) => shareEvents(by, late, workers)),
    orders: (writer) => ordersFor(writer, parts, late),
  });
  const { journal, store: own } = await startWorkers(workers, parts, metrics);
  late.store = own.store;
  await recordStartReadings(parts, journal);
  const store = openLazyStore(async () => own.store, log);
  const telemetry = await openProcessTelemetry(config, version, 'parent', log);
  const now_ms = Date.now;
  const shared = { journal, store, metrics, telemetry, coordinator, now_ms };
  const open = openRuntime({ ...parts, ...shared, index_path: paths.index });
  late.reloading = openPolicyReloader({
    first: parts.policy,
    plugins: parts.plugins,
    load: () => admitPolicy(parts.loadPolicy(), own, config),
    save: async (policy) => void (await savePolicy(paths.policies, policy)),
    workers: workers.serving,
    use: open.usePolicy,
    useKeys: (keys) => useKeys(keys, late, workers, parts),
    journal,
    on_failure: () => metrics?.countFailedReload(),
    now_ms,
    log,
  });
  if (journal !== null) late.indexing = openParentIndexing(config, journal, late.feed, log);
  const blocks = await followBlocks(config, own.store, log);
  const kept = await openChores({ config, log, store: store.open, ports: open.ports });
  const status = statusOf(parts, workers, late.reloading);
  // Elsewhere the workers judge, and see to that themselves.
  if (parts.worker_url === null) await open.warm();
  const socket = await openCommandSocket(parts, open.runtime, late, status);
  return {
    status,
    reload,
    stop: async (patience_ms) => {
      await socket?.close();
      const { forced } = await workers.stop(patience_ms);
      await closeAll([...kept, blocks, late.indexing, journal, open, telemetry], log);
      return { forced };
    },
    kill: workers.kill,
  };
}

/** Records which secrets the configuration asked for at startup. */
async function recordStartReadings(
  { secret_readings, policy, log }: ParentParts,
  journal: Journal | null,
): Promise<void> {
  const by = { caller_id: 'service:start', policy_hash: policy.hash };
  await recordSecretReads(secret_readings, by, { journal, now_ms: Date.now, log });
}

/** Counts what only the parent knows, besides what each process counts. */
function metricsOfParent(version: string, { server }: Config, late: Late): Metrics {
  const pending = async (): Promise<number | null> => {
    if (late.store === null) return null;
    const { countPendingApprovals } = await import('../runtime/enforcement/approvals/pending.ts');
    return countPendingApprovals(late.store, Date.now());
  };
  return openMetrics({ version, mode: server.mode, countPendingApprovals: pending });
}

/** Chores know every subject, and through it all detectors: loaded before, they would hold up the workers. */
async function openChores(
  ground: Parameters<typeof buildMaintenanceJobs>[0] & { readonly log: Log },
): Promise<MaintenanceLoop[]> {
  const { buildMaintenanceJobs, buildDeliveryJobs } = await import('./maintenance-jobs.ts');
  return [buildMaintenanceJobs(ground), buildDeliveryJobs(ground)].map((chores) =>
    startMaintenance(chores, ground.log),
  );
}

/** Keeps the list of blocked agents in the state folder like the store, from before the service is ready. */
async function followBlocks(config: Config, store: Store, log: Log) {
  const { followAgentBlocks, mirrorAgentBlocks } = await import(
    '../runtime/enforcement/agent-blocks/agent-blocks.ts'
  );
  const failed = (fault: unknown): void =>
    log.error(
      'the list of blocked agents could not be read from the store, and stays as it was',
      describeStoreFault(fault),
    );
  await mirrorAgentBlocks(config.state_dir, store).catch(failed);
  return followAgentBlocks(config.state_dir, store, failed);
}

/** What the whole service knows, for the parent's own runtime and for the workers. */
function buildCoordinator(
  config: Config,
  late: Late,
  metricsOfAll: () => Promise<string>,
  workers: () => Workers,
  reload: (caller_id: string) => Promise<ReloadReport>,
  first: PluginsInUse,
): Coordinator {
  const agents = openSeenAgents();
  return {
    ready: async () =>
      late.reloading !== null && (!config.audit.enabled || (late.indexing?.ready() ?? false)),
    reloadFailure: async () => late.reloading?.lastFailure() ?? null,
    metrics: metricsOfAll,
    agents: async () => {
      // Those of a worker that has died since are kept here.
      const lists = await gather(workers(), 'agents');
      for (const agent_id of lists.flat()) agents.note(agent_id);
      return agents.list().slice(0, AGENTS_LISTED_MAX);
    },
    plugins: async () => late.reloading?.plugins() ?? first,
    reload: ({ id }) => reload(id),
    syncIndex: async () => late.indexing?.sync(),
    events: null,
  };
}

function ordersFor(writer: string, parts: ParentParts, late: Late): WorkerOrders {
  const { version, config, port, started_ms } = parts;
  const { hash, generation } = late.reloading?.inForce() ?? { hash: parts.policy.hash, generation: 1 };
  const auth = { ...config.auth, api_keys: late.api_keys };
  return { version, config: { ...config, auth }, writer, port, started_ms, policy_hash: hash, generation };
}

const KEYS_MS = 5_000;

/** Gives all workers the API keys of a reload; one that does not take them is ended, and its successor has them. */
async function useKeys(
  keys: readonly ApiKey[],
  late: Late,
  workers: Workers,
  { config, log }: ParentParts,
): Promise<void> {
  if (isDeepStrictEqual(keys, late.api_keys)) return;
  late.api_keys = keys;
  if (needsAgentToken({ auth: { ...config.auth, api_keys: keys }, host: config.server.host }))
    ensureToken(config.state_dir, 'agent');
  await Promise.all(
    workers.serving().map((worker) =>
      worker.ask('api_keys', keys, KEYS_MS).catch(async () => {
        log.error(`${worker.name} did not take the new API keys, and is ended`);
        await worker.kill();
      }),
    ),
  );
  log.info('the API keys were reloaded', { count: keys.length });
}

/** How long the parent does nothing when the workers listen: what they are asked first they ask the parent. */
const FIRST_ANSWERS_MS = 100;

/**
 * Opens the parent's journal while the workers start, and the store behind them: loading what speaks to it takes as
 * long as they do, and both would wait for the processor. Nobody is told that the service is ready before. Where one
 * fails, nothing of the others stays.
 */
async function startWorkers(
  workers: Workers,
  { config, policy, log }: ParentParts,
  metrics: Metrics | null,
): Promise<{ journal: Journal | null; store: OwnStore }> {
  if (config.audit.enabled) await createOrder(statePaths(config.state_dir).journal);
  const [started, opened] = await Promise.allSettled([
    workers.start(),
    config.audit.enabled ? openWriter(config, 'parent', log, metrics) : null,
  ]);
  const journal = opened.status === 'fulfilled' ? opened.value : null;
  try {
    for (const each of [opened, started]) if (each.status === 'rejected') throw each.reason;
    await sleep(FIRST_ANSWERS_MS);
    return { journal, store: await openOwnStore(config, policy) };
  } catch (failure) {
    await workers.kill();
    await journal?.close();
    throw failure;
  }
}

/** What stands open is closed in this order, whatever befalls the rest. */
async function closeAll(
  opened: readonly ({ readonly close: () => Promise<void> } | null)[],
  log: Log,
): Promise<void> {
  for (const one of opened) {
    await one?.close().catch((fault) => log.error('something could not be closed', describeFault(fault)));
  }
}

function openParentIndexing(config: Config, journal: Journal, watch: EventFeed, log: Log): IndexFiller {
  const paths = statePaths(config.state_dir);
  const { max_age_days } = config.audit;
  return openIndexFiller({
    index_path: paths.index,
    journal_dir: paths.journal,
    journal,
    max_age_days,
    now_ms: Date.now,
    watch,
    log,
  });
}

/** How long a worker may take for a batch before it is sent the next one. */
const EVENTS_MS = 30_000;

/** Gives a worker what happens from now on, or no longer; answers where that begins. */
async function shareEvents(
  { worker, turn, wanted }: Parameters<ParentAnswers['events']>[0],
  { feed, indexing }: Late,
  workers: Workers,
): Promise<{ readonly position: number }> {
  if (!wanted) {
    feed.leave(worker, turn);
    return { position: 0 };
  }
  if (indexing === null) throw new Error('the service is starting');
  const { position } = (await indexing.open()).arrivals;
  const asking = workers.serving().find(({ name }) => name === worker);
  if (asking === undefined) throw new Error('the worker has ended');
  // From here to the answer nothing else runs, so that what is sent begins at this position.
  feed.join(worker, turn, (batch) => asking.ask('events', batch, EVENTS_MS));
  return { position: position() };
}

/** Without the socket the service still decides; the command line alone misses it. */
async function openCommandSocket(
  parts: ParentParts,
  runtime: Runtime,
  late: Late,
  status: () => ServiceStatus,
): Promise<SocketServer | null> {
  const { config, dispatch, resident, log } = parts;
  const path = statePaths(config.state_dir).socket;
  const { file } = config.origin;
  const config_file = file === null ? null : resolveRealPath(file);
  try {
    const sync_index = async () => late.indexing?.sync();
    const follow = followOf(late);
    return await openSocketServer({
      path,
      runtime,
      dispatch,
      status,
      sync_index,
      config_file,
      follow,
      resident,
      log,
    });
  } catch (fault) {
    log.error('the socket for the command line could not be opened', describeFault(fault));
    return null;
  }
}

/** The trail is followed where the index is filled. */
function followOf({ feed, indexing }: Late): FollowTrail | null {
  if (indexing === null) return null;
  return async (wish, signal) => {
    const { followIndex } = await import('../runtime/audit/events/trail.ts');
    const { index } = await indexing.open();
    return followIndex(wish, { index, sync: indexing.sync, watch: feed.watch }, signal);
  };
}

function answersOf(
  coordinator: Coordinator,
  reload: (caller_id: string) => Promise<ReloadReport>,
  events: ParentAnswers['events'],
): ParentAnswers {
  return {
    events,
    ready: coordinator.ready,
    reload_failure: coordinator.reloadFailure,
    metrics: coordinator.metrics,
    agents: coordinator.agents,
    plugins: coordinator.plugins,
    reload: ({ caller_id }) => reload(caller_id),
    sync_index: async () => {
      await coordinator.syncIndex();
      return { synced: true };
    },
  };
}

function statusOf(parts: ParentParts, workers: Workers, reloading: PolicyReloader): () => ServiceStatus {
  return () => ({
    pid: process.pid,
    url: parts.url,
    version: parts.version,
    workers: workers.serving().map(({ name, pid }) => ({ name, pid })),
    policy_hash: reloading.inForce().hash,
    generation: reloading.inForce().generation,
  });
}

/** What those workers answered that could, in time. */
async function gather(workers: Workers, question: 'agents'): Promise<readonly (readonly string[])[]> {
  const asked = workers.serving().map((worker) => worker.ask(question, null, GATHER_MS));
  const settled = await Promise.allSettled(asked);
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
