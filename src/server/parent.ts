import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '../core/types/index.ts';
import type { Runtime } from '../operations/runtime.ts';
import { type EventBus, openLocalBus } from '../platform/cluster/event-bus.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { openSerialQueue } from '../platform/queue/serial-queue.ts';
import { openLazyStore, type Store } from '../platform/store/index.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import type { FirstSignIn } from '../runtime/access/types.ts';
import type { AuditIndex } from '../runtime/audit/audit-index.ts';
import { type EventFeed, openEventFeed } from '../runtime/audit/events/feed.ts';
import { followIndex } from '../runtime/audit/events/follow-index.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { createOrder } from '../runtime/audit/order.ts';
import type { Config } from '../runtime/config/index.ts';
import { resolveRealPath } from '../runtime/config/real-file.ts';
import { type DeliveryMetrics, openDeliveryMetrics } from '../runtime/observability/delivery-metrics.ts';
import { type Metrics, openMetrics } from '../runtime/observability/metrics.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import { savePolicy } from '../runtime/policies/saved-policy.ts';
import type { SecretReading } from '../runtime/secrets/references.ts';
import { recordSecretReads } from '../runtime/secrets/secret-read-events.ts';
import { openApiKeyExchange } from './api-key-exchange.ts';
import { type BackgroundWork, type Closeable, openBackgroundWork } from './background-work.ts';
import { buildFenceEvent } from './cluster/fence-event.ts';
import type { ClusterMember } from './cluster/node.ts';
import { openContentSocket } from './content-socket.ts';
import { eraseFromService } from './erase-actions.ts';
import { readIndexAddress } from './index-address.ts';
import { type IndexFiller, openIndexFiller } from './indexing.ts';
import { type ManagedCopy, openManagedCopy } from './managed-copy.ts';
import { openMetricsSum } from './metrics-sum.ts';
import { openOperatorSocket } from './operator-socket.ts';
import { admitPolicy, type OwnerStore } from './owner-store.ts';
import { buildParentMethods } from './parent-methods.ts';
import { listProcesses } from './processes.ts';
import {
  openPolicyReloader,
  type PolicyLoad,
  type PolicyReloader,
  type ReloadingParts,
} from './reloading.ts';
import type { ParentMethods, WorkerStart } from './rpc-methods.ts';
import { type Coordinator, openRuntime } from './runtime.ts';
import { openSeenAgents } from './seen-agents.ts';
import type { DaemonHandlers, Dispatch, FollowAuditLog, ServiceStatus } from './service.ts';
import { buildStatePaths } from './state-dir.ts';
import { openStateWatch } from './state-watch.ts';
import { openProcessTelemetry } from './telemetry.ts';
import { openWorkers, type WorkerProcess, type Workers } from './workers.ts';
import { openWriter } from './writer.ts';

export interface ParentParts {
  readonly version: string;
  readonly config: Config;
  /** The path and the overrides with which the configuration was read. */
  readonly request: Omit<ConfigRequest, 'env'>;
  readonly policy: Policy;
  /** The open store. The parent closes it. */
  readonly store: OwnerStore;
  readonly plugins: PluginsInUse;
  /** The secrets that the configuration references. */
  readonly secret_readings: readonly SecretReading[];
  readonly loadPolicy: () => Promise<PolicyLoad>;
  readonly started_ms: number;
  /** The HTTP address, or `null` if the process listens on its local sockets only. */
  readonly url: string | null;
  readonly port: number;
  /** The main module of a worker, or `null` for a daemon, which has no workers. */
  readonly worker_url: URL | null;
  readonly spare: WorkerProcess | null;
  readonly dispatch: Dispatch;
  readonly daemon: DaemonHandlers | null;
  /** The membership in a cluster, which the parent ends; `null` without one. */
  readonly cluster: ClusterMember | null;
  readonly is_terminal?: boolean;
  readonly log: Log;
}

/** The process that owns the state folder and runs the workers. It answers no HTTP requests itself. */
export interface Parent {
  readonly status: () => ServiceStatus;
  readonly reload: (callerId: string) => Promise<ReloadReport>;
  /** Creates the first administrator's one-time link if there is no administrator and a terminal shows it. */
  readonly prepareFirstSignIn: () => Promise<FirstSignIn>;
  /** Answers all accepted requests for at most `patienceMs`, then closes everything. */
  readonly stop: (patienceMs: number) => Promise<{ readonly forced: boolean }>;
  /** Kills the workers. */
  readonly kill: () => Promise<void>;
}

/** A placeholder for a daemon, which never starts a worker. */
const NO_PROGRAM = new URL('data:,');
const GATHER_MS = 2_000;
/** The time that a worker has to take a lease or a hint, in milliseconds. */
const PUSH_MS = 1_000;
/** The time that work with the store has to end when the service stops, in milliseconds. */
const STORE_WAIT_MS = 5_000;
const AGENTS_LISTED_MAX = 1_000;

/** Parts that open only after the workers that use them. */
interface DeferredParts {
  readonly feed: EventFeed;
  /** Carries hints between the processes of this node, and between nodes. */
  readonly bus: EventBus;
  background: BackgroundWork | null;
  indexing: IndexFiller | null;
  journal: Journal | null;
  managed: ManagedCopy | null;
  reloading: PolicyReloader | null;
  store: Store | null;
}

const NOT_OPEN = {
  background: null,
  indexing: null,
  journal: null,
  managed: null,
  reloading: null,
  store: null,
};

/** Opens the journal, workers, socket and index. The workers listen when all of it is open. */
export async function openParent(parts: ParentParts): Promise<Parent> {
  const { config, log } = parts;
  const paths = buildStatePaths(config.state_dir);
  await savePolicy(paths.policies, parts.policy);
  const inTurn = openSerialQueue();
  const bus = parts.cluster?.bus ?? openLocalBus();
  const feed = openEventFeed(log, config.audit.export_actions);
  const deferred: DeferredParts = { feed, bus, ...NOT_OPEN };
  const keys = openApiKeyExchange(config, () => workers, log);
  const deliveries = openDeliveryMetrics();
  const metrics = config.metrics.enabled ? openParentMetrics(parts, deferred, deliveries) : null;
  const changes = queueChanges(deferred, inTurn);
  const metricsOfAll = openMetricsSum(() => workers.serving(), metrics);
  const coordinator = buildCoordinator(parts, deferred, metricsOfAll, () => workers, changes);
  const workers = openWorkers({
    url: parts.worker_url ?? NO_PROGRAM,
    count: parts.worker_url === null ? 0 : config.server.workers,
    spare: parts.spare,
    log,
    inTurn,
    answers: buildParentMethods(coordinator, changes.reload, (by) => shareEvents(by, deferred, workers)),
    orders: (writer) => buildWorkerStart(writer, parts, deferred, keys.current()),
  });
  relayHints(bus, workers);
  const journal = await startWorkers(workers, parts, metrics, deferred);
  deferred.journal = journal;
  const opened: Closeable[] = journal === null ? [] : [journal];
  try {
    return await openServing(
      { parts, deferred, keys, metrics, deliveries, changes, coordinator, workers, journal },
      opened,
    );
  } catch (failure) {
    await workers.kill();
    await closeAll(opened.toReversed(), log);
    throw failure;
  }
}

interface ServingParts {
  readonly parts: ParentParts;
  readonly deferred: DeferredParts;
  readonly keys: ReturnType<typeof openApiKeyExchange>;
  readonly metrics: Metrics | null;
  readonly deliveries: DeliveryMetrics;
  readonly changes: QueuedChanges;
  readonly coordinator: ReturnType<typeof buildCoordinator>;
  readonly workers: Workers;
  readonly journal: Journal | null;
}

/** Opens the parts that need the journal and the store. Each goes to `opened`, so that a failed start closes them. */
async function openServing(serving: ServingParts, opened: Closeable[]): Promise<Parent> {
  const { parts, deferred, keys, metrics, changes, coordinator, workers, journal } = serving;
  const { config, log, version, store: own } = parts;
  const { reload, activateKeys } = changes;
  deferred.store = own.store;
  await recordStartReadings(parts, journal);
  const managed = openManagedCopy(config, own.store, keys, log);
  deferred.managed = managed;
  opened.push(managed);
  const isOutdated = await managed.copy();
  if (!isOutdated) managed.confirmPolicy();
  await activateKeys();
  const store = openLazyStore(async () => own.store, log);
  const telemetry = await openProcessTelemetry(config, version, 'parent', log);
  const links = { fence: parts.cluster?.fence ?? null, subscribe: deferred.bus.subscribe };
  const shared = { journal, store, metrics, telemetry, coordinator, now_ms: Date.now, ...links };
  const open = openRuntime({ ...parts, ...shared, index_address: () => readIndexAddress(config) });
  const use = { use: open.usePolicy, useKeys: keys.useConfigured };
  const load = async () => {
    await managed.copy();
    return admitPolicy(parts.loadPolicy(), own, config);
  };
  deferred.reloading = openReloading(parts, { ...use, load, workers: workers.serving, journal, metrics });
  opened.push(open);
  if (journal !== null) {
    deferred.indexing = openParentIndexing(parts, journal, deferred);
    opened.push(deferred.indexing);
  }
  if (isOutdated) await reload('service:start');
  managed.follow({ onPolicy: () => reload('service:store-watch'), onKeys: activateKeys });
  superviseNode(parts, managed, deferred, workers);
  const background = await openBackgroundWork({
    ...{ config, log, store: store.open, ports: open.ports, runtime: () => open.runtime },
    ...{ index: getIndex(deferred, config), started_ms: parts.started_ms, deliveries: serving.deliveries },
    ...(parts.cluster !== null && { takeJob: parts.cluster.takeJob }),
  });
  deferred.background = background;
  const kept = background.opened;
  opened.push(...kept);
  const status = getStatus(parts, workers, deferred.reloading);
  // In a service, the workers prepare.
  if (parts.worker_url === null) await open.warm();
  const sockets = await openLocalSockets(parts, open.runtime, deferred, status);
  opened.push(...sockets);
  // The background work logs a fault and tries again. Until then `/v1/ready` answers 503.
  await deferred.indexing?.open().catch(() => {});
  // A node serves when the others know that it has what they have.
  if (parts.cluster !== null) await managed.look().then(parts.cluster.renewNow);
  await workers.listen();
  return {
    status,
    reload,
    prepareFirstSignIn: () => open.runtime.prepareFirstSignIn(parts.is_terminal ?? false),
    stop: async (patienceMs) => {
      await closeAll(sockets, log);
      const { forced } = await workers.stop(patienceMs);
      await parts.cluster?.leave();
      // Each of these may wait for a store that does not answer. They wait at the same time, and closing the store
      // ends what still waits after that.
      const waiting = [...kept, managed].map((one) => closeAll([one], log));
      await Promise.race([Promise.all(waiting), sleep(STORE_WAIT_MS, null, { ref: false })]);
      await closeAll([deferred.indexing, journal, open, telemetry], log);
      return { forced };
    },
    kill: workers.kill,
  };
}

/** Changes of the whole service. One runs at a time, and no worker starts meanwhile. */
interface QueuedChanges {
  readonly reload: (callerId: string) => Promise<ReloadReport>;
  readonly activateKeys: () => Promise<void>;
}

function queueChanges(deferred: DeferredParts, inTurn: ReturnType<typeof openSerialQueue>): QueuedChanges {
  return {
    reload: (callerId) =>
      inTurn(async () => {
        if (deferred.reloading === null) throw new Error('The service is starting.');
        const report = await deferred.reloading.reload(callerId);
        if (report.reloaded) deferred.managed?.confirmPolicy();
        return report;
      }),
    activateKeys: () => inTurn(async () => deferred.managed?.activateKeys()),
  };
}

/** Sends each hint to the workers. A worker that does not answer polls. */
function relayHints(bus: EventBus, workers: Workers): void {
  bus.subscribe((hint) => {
    for (const worker of workers.serving()) worker.call('hint', hint, PUSH_MS).catch(() => {});
  });
}

/** Connects the membership in the cluster with the workers and with the managed policy. */
function superviseNode(
  { cluster, policy, log }: ParentParts,
  managed: ManagedCopy,
  { bus, reloading, journal }: DeferredParts,
  workers: Workers,
): void {
  if (cluster === null) return;
  const policyHash = () => reloading?.getActive().hash ?? policy.hash;
  const catchUp = () => managed.look().then(cluster.renewNow);
  cluster.supervise({
    getActive: () => ({ policy_revision: managed.activeRevision(), policy_hash: policyHash() }),
    onLease: (lease) =>
      Promise.allSettled(workers.serving().map((worker) => worker.call('lease', lease, PUSH_MS))),
    onNewRevision: catchUp,
    onFenceChange: (isFenced) => {
      const event = buildFenceEvent(isFenced, Date.now(), policyHash());
      journal
        ?.append(event)
        .catch((fault) => log.error('a fence could not be recorded', describeFault(fault)));
    },
  });
  bus.subscribe(({ topic }) => {
    if (topic === 'revision') void catchUp();
  });
}

function openReloading(
  { config, policy, plugins, log }: ParentParts,
  {
    metrics,
    ...parts
  }: Pick<ReloadingParts, 'use' | 'useKeys' | 'load' | 'workers' | 'journal'> & {
    readonly metrics: Metrics | null;
  },
): PolicyReloader {
  const { policies } = buildStatePaths(config.state_dir);
  return openPolicyReloader({
    ...parts,
    first: policy,
    plugins,
    save: async (next) => void (await savePolicy(policies, next)),
    on_failure: () => metrics?.countFailedReload(),
    now_ms: Date.now,
    log,
  });
}

/** Records which secrets the configuration read at startup. */
async function recordStartReadings(
  { secret_readings, policy, log }: ParentParts,
  journal: Journal | null,
): Promise<void> {
  const by = { caller_id: 'service:start', policy_hash: policy.hash };
  await recordSecretReads(secret_readings, by, { journal, now_ms: Date.now, log });
}

/** Adds the metrics that only the parent has to the metrics that each process counts. */
function openParentMetrics(
  { version, config: { server }, cluster }: ParentParts,
  deferred: DeferredParts,
  deliveries: DeliveryMetrics,
): Metrics {
  const listMore = async () => [
    ...((await cluster?.listMetrics()) ?? []),
    ...((await deferred.background?.listMetrics()) ?? []),
    ...(deferred.store === null ? [] : await deliveries.list(deferred.store)),
  ];
  return openMetrics({ version, mode: server.mode, listMore });
}

/** Builds the coordinator that the parent's own runtime and the workers use. */
function buildCoordinator(
  { config, plugins, policy, started_ms, cluster }: ParentParts,
  deferred: DeferredParts,
  metricsOfAll: () => Promise<string>,
  workers: () => Workers,
  { reload, activateKeys }: QueuedChanges,
): Coordinator {
  const agents = openSeenAgents();
  return {
    ready: async () =>
      deferred.reloading !== null && (!config.audit.enabled || (deferred.indexing?.ready() ?? false)),
    reloadFailure: async () => deferred.reloading?.lastFailure() ?? null,
    metrics: metricsOfAll,
    agents: async () => {
      // Remembers the agents of workers that have since ended.
      const lists = await gatherAnswers(workers(), 'agents');
      for (const agentId of lists.flat()) agents.note(agentId);
      return agents.list().slice(0, AGENTS_LISTED_MAX);
    },
    processes: () =>
      listProcesses(
        deferred.reloading?.getActive() ?? { hash: policy.hash, generation: 1 },
        started_ms,
        workers().serving(),
      ),
    plugins: async () => deferred.reloading?.plugins() ?? plugins,
    cluster: async () => (await cluster?.getStatus()) ?? null,
    awaitActive: async () => (await cluster?.awaitActive()) ?? null,
    publish: deferred.bus.publish,
    reload: ({ id }) => reload(id),
    activateKeys,
    syncIndex: async () => deferred.indexing?.sync(),
    eraseActions: (erasure) => eraseFromService(erasure, { config, ...deferred, workers: workers() }),
    events: null,
  };
}

function buildWorkerStart(
  writer: string,
  parts: ParentParts,
  deferred: DeferredParts,
  apiKeys: readonly ApiKey[],
): WorkerStart {
  const { version, config, port, started_ms } = parts;
  const { hash, generation } = deferred.reloading?.getActive() ?? { hash: parts.policy.hash, generation: 1 };
  const auth = { ...config.auth, api_keys: apiKeys };
  const { path, overrides, cwd } = parts.request;
  const request = { path, ...(overrides && { overrides }), ...(cwd !== undefined && { cwd }) };
  const own = { version, request, config: { ...config, auth }, writer, port, started_ms };
  const lease = parts.cluster?.fence.getLease() ?? null;
  return { ...own, policy_hash: hash, generation, lease };
}

/**
 * Opens the parent's journal while the workers start, then the store. Loading the store client takes as long as
 * starting the workers, and both would compete for the processor. The service does not report that it is ready
 * before all are open. If one fails, all others are closed.
 */
async function startWorkers(
  workers: Workers,
  { config, policy, log }: ParentParts,
  metrics: Metrics | null,
  deferred: DeferredParts,
): Promise<Journal | null> {
  const policyHash = () => deferred.reloading?.getActive().hash ?? policy.hash;
  if (config.audit.enabled) await createOrder(buildStatePaths(config.state_dir).journal);
  const [started, opened] = await Promise.allSettled([
    workers.start(),
    config.audit.enabled ? openWriter(config, 'parent', log, policyHash, metrics) : null,
  ]);
  const journal = opened.status === 'fulfilled' ? opened.value : null;
  try {
    for (const each of [opened, started]) if (each.status === 'rejected') throw each.reason;
    return journal;
  } catch (failure) {
    await workers.kill();
    await journal?.close();
    throw failure;
  }
}

/** Closes the open parts in this order, even if one of them fails. */
async function closeAll(
  opened: readonly ({ readonly close: () => Promise<void> } | null)[],
  log: Log,
): Promise<void> {
  for (const one of opened) {
    await one?.close().catch((fault) => log.error('something could not be closed', describeFault(fault)));
  }
}

function openParentIndexing(
  { config, policy, log }: ParentParts,
  journal: Journal,
  deferred: DeferredParts,
): IndexFiller {
  const paths = buildStatePaths(config.state_dir);
  const { state_dir } = config;
  const policyHash = () => deferred.reloading?.getActive().hash ?? policy.hash;
  const stateWatch = openStateWatch({ state_dir, journal, policyHash, now_ms: Date.now, log });
  return openIndexFiller({
    ...{ index_address: readIndexAddress(config), journal_dir: paths.journal, journal },
    ...{ max_age_days: config.audit.max_age_days, state_dir, state_watch: stateWatch },
    ...{ now_ms: Date.now, watch: deferred.feed, log },
  });
}

/** The time that a worker has to accept a batch before the next one is sent, in milliseconds. */
const EVENTS_MS = 30_000;

/** Starts or stops sending new events to a worker. Returns the position at which the events begin. */
async function shareEvents(
  { worker, turn, wanted }: Parameters<ParentMethods['events']>[0],
  { feed, indexing }: DeferredParts,
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
  // Nothing else runs between here and the answer, so the sent events begin at this position.
  feed.join(worker, turn, (batch) => asking.call('events', batch, EVENTS_MS));
  return { position: position() };
}

/** Opens the sockets of hooks and of operators. Without one, the service still decides; only its clients cannot reach it. */
async function openLocalSockets(
  parts: ParentParts,
  runtime: Runtime,
  deferred: DeferredParts,
  status: () => ServiceStatus,
): Promise<Closeable[]> {
  const { config, dispatch, daemon, log } = parts;
  const { state_dir, origin } = config;
  const configFile = origin.file === null ? null : resolveRealPath(origin.file);
  const shared = { runtime, dispatch, status, daemon, log };
  const syncIndex = async () => deferred.indexing?.sync();
  const opening = await Promise.allSettled([
    openContentSocket({
      ...shared,
      path: buildStatePaths(state_dir).content_socket,
      config_file: configFile,
      jwt: config.auth.jwt,
    }),
    openOperatorSocket({ ...shared, state_dir, sync_index: syncIndex, follow: getFollow(deferred, config) }),
  ]);
  return opening.flatMap((each) => {
    if (each.status === 'fulfilled') return [each.value];
    log.error('a local socket could not be opened', describeFault(each.reason));
    return [];
  });
}

/** Returns the opener of the audit index; `null` without an audit log or an index of it. */
function getIndex({ indexing }: DeferredParts, { audit }: Config): (() => Promise<AuditIndex>) | null {
  if (indexing === null || audit.index === 'off') return null;
  return async () => (await indexing.open()).index;
}

/** Clients follow the audit log in the process that fills the index. */
function getFollow({ feed, indexing }: DeferredParts, { audit }: Config): FollowAuditLog | null {
  if (indexing === null || audit.index === 'off') return null;
  return async (followRequest, signal) => {
    const { index } = await indexing.open();
    return followIndex(followRequest, { index, sync: indexing.sync, watch: feed.watch }, signal);
  };
}

function getStatus(parts: ParentParts, workers: Workers, reloading: PolicyReloader): () => ServiceStatus {
  return () => ({
    pid: process.pid,
    url: parts.url,
    version: parts.version,
    workers: workers.serving().map(({ name, pid }) => ({ name, pid })),
    policy_hash: reloading.getActive().hash,
    generation: reloading.getActive().generation,
  });
}

/** Returns the answers of the workers that replied before the deadline. */
async function gatherAnswers(workers: Workers, question: 'agents'): Promise<readonly (readonly string[])[]> {
  const requested = workers.serving().map((worker) => worker.call(question, null, GATHER_MS));
  const settled = await Promise.allSettled(requested);
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
