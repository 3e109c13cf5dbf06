import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClusterCoordinator,
  LEASE_MS,
  type ListedNode,
  openStoreCoordinator,
} from '../../platform/cluster/coordinator.ts';
import type { EventBus } from '../../platform/cluster/event-bus.ts';
import { StartFailure } from '../../platform/failure.ts';
import type { Log } from '../../platform/log.ts';
import { parseStoreSettings, type Store } from '../../platform/store/index.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import { type Fence, type NodeLease, openFence, readMachineMs } from '../../runtime/cluster/fence.ts';
import type { ClusterActivation, ClusterStatus } from '../../runtime/cluster/types.ts';
import type { Config } from '../../runtime/config/index.ts';
import { readRevisions, sumRevisions } from '../../runtime/managed-policy/revisions.ts';
import type { Metric } from '../../runtime/observability/metric.ts';
import { openServiceStore } from '../store.ts';
import { listMigrations } from '../store-migrations.ts';
import { buildClusterMetrics } from './metrics.ts';
import { deriveSharedKeys, prepareSharedKeys, requireEqualKeys } from './shared-keys.ts';
import { buildClusterStatus, havePoliciesThatDiffer } from './status.ts';

/** The supervisor of a node, as its membership uses it. */
export interface NodeSupervisor {
  readonly getActive: () => { readonly policy_revision: number | null; readonly policy_hash: string };
  /** Called after each renewal. Resolves when all workers have the lease. */
  readonly onLease: (lease: NodeLease) => Promise<unknown>;
  /** Called if the database has a newer revision than this node. */
  readonly onNewRevision: () => Promise<void>;
  /** Called when the node is fenced, and when it is not any more. */
  readonly onFenceChange: (isFenced: boolean) => void;
}

/** The membership of one service in a cluster. Its lease is renewed from the moment it has joined. */
export interface ClusterMember {
  readonly fence: Fence;
  readonly bus: EventBus;
  readonly supervise: (supervisor: NodeSupervisor) => void;
  /** Renews the lease now, and publishes what is active. Never rejects. */
  readonly renewNow: () => Promise<void>;
  /** Returns whether this node does a job of the whole cluster now. A fenced node does none. */
  readonly takeJob: (job: string) => Promise<boolean>;
  readonly getStatus: () => Promise<ClusterStatus>;
  /** Waits until the newest revision is active on all live nodes, for three seconds at most. */
  readonly awaitActive: () => Promise<ClusterActivation>;
  readonly listMetrics: () => Promise<readonly Metric[]>;
  /** Ends the lease at once. Never rejects. */
  readonly leave: () => Promise<void>;
}

/** The pause between two renewals, in milliseconds. Three may fail before the lease ends. */
const RENEW_MS = 250;
/** The time before the end of the lease at which the node fences itself, in milliseconds. */
const MARGIN_MS = 100;
/** The maximum duration of a statement, in milliseconds. A database that takes longer cannot keep a lease. */
const PATIENCE_MS = 800;
/** A process that was killed holds its name for the rest of its lease, which a restart waits for. */
const JOIN_MS_MAX = 2 * LEASE_MS;
const JOIN_AGAIN_MS = 100;
/** The interval between two comparisons with the policies of the other nodes, in milliseconds. */
const COMPARE_MS = 1_000;
/** A worker that does not answer must not cost the lease. */
const SHARE_MS_MAX = 200;
const ACTIVATION_MS_MAX = 3_000;
const ACTIVATION_LOOK_MS = 50;

/**
 * Joins the cluster. A member's statements go over a separate connection with short limits, so that no other work delays
 * a renewal.
 *
 * @throws StartFailure `node_id_in_use`, `cluster_keys_missing` or `cluster_keys_differ`, whose message says what to do
 */
export async function joinCluster(config: Config, version: string, log: Log): Promise<ClusterMember> {
  deriveSharedKeys(config);
  const store = await openServiceStore({ ...parseStoreSettings(config), patience_ms: PATIENCE_MS });
  try {
    const coordinator = await enterCluster(config, version, store);
    const bus = await openBus(config);
    return openMember(config, { coordinator, store, bus, log });
  } catch (failure) {
    await store.close();
    throw failure;
  }
}

async function enterCluster(config: Config, version: string, store: Store): Promise<ClusterCoordinator> {
  const node = {
    node_id: getNodeId(config),
    version,
    schema_step: Object.keys(listMigrations()).length,
    address: config.cluster.address ?? null,
  };
  const visitor = openStoreCoordinator(store, { ...node, key_digests: '{}' });
  const digests = prepareSharedKeys(
    config,
    (await visitor.listNodes()).filter(({ is_live }) => is_live),
  );
  const coordinator = openStoreCoordinator(store, { ...node, key_digests: JSON.stringify(digests) });
  const untilMs = performance.now() + JOIN_MS_MAX;
  while (!(await coordinator.join())) {
    if (performance.now() > untilMs) throw buildNameFailure(node.node_id);
    await sleep(JOIN_AGAIN_MS);
  }
  const nodes = await coordinator.listNodes();
  const self = nodes.find(({ is_self }) => is_self);
  const elder = nodes.filter((each) => each.is_live && self !== undefined && isElder(each, self));
  try {
    for (const other of elder) requireEqualKeys(config, digests, other);
    return coordinator;
  } catch (failure) {
    await coordinator.leave();
    throw failure;
  }
}

/** Decides which of two nodes stays if they start at the same time with different keys. */
function isElder(one: ListedNode, other: ListedNode): boolean {
  if (one.started_ms !== other.started_ms) return one.started_ms < other.started_ms;
  return one.node_id < other.node_id;
}

function getNodeId({ cluster }: Pick<Config, 'cluster'>): string {
  return cluster.node_id ?? hostname();
}

function buildNameFailure(nodeId: string): StartFailure {
  return new StartFailure(
    'node_id_in_use',
    `Another node of this cluster runs with the name \`${nodeId}\`. Set \`cluster.node_id\` to a name that no other node has, or stop the other one.`,
  );
}

async function openBus({ cluster, storage }: Config): Promise<EventBus> {
  if (cluster.notify && storage.url !== undefined) {
    const { postgresBus } = await import('../../drivers/buses/postgres-bus.ts');
    return postgresBus.open({ url: storage.url });
  }
  const { openLocalBus } = await import('../../platform/cluster/event-bus.ts');
  return openLocalBus();
}

interface MemberParts {
  readonly coordinator: ClusterCoordinator;
  readonly store: Store;
  readonly bus: EventBus;
  readonly log: Log;
}

const NO_LEASE: NodeLease = {
  valid_until_ms: 0,
  synced_ms: 0,
  policy_revision: null,
  policies_differ: false,
};

async function openMember(config: Config, parts: MemberParts): Promise<ClusterMember> {
  const { coordinator, store, bus, log } = parts;
  const nodeId = getNodeId(config);
  const state = {
    lease: NO_LEASE,
    renewed_machine_ms: 0,
    newest_revision: 0,
    /** The last time at which this node had the newest revision, by the clock of the machine. */
    current_machine_ms: readMachineMs(),
    policies_differ: false,
    compared_machine_ms: 0,
    fence_count: 0,
    is_fenced: false,
    is_name_lost: false,
  };
  const fence = openFence(config.cluster, NO_LEASE);
  let supervisor: NodeSupervisor | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let renewing: Promise<void> = Promise.resolve();

  /** The workers name a revision in their events before other nodes see that this one has it. */
  async function shareRevision(policyRevision: number | null): Promise<void> {
    state.lease = { ...state.lease, policy_revision: policyRevision };
    fence.useLease(state.lease);
    await Promise.race([supervisor?.onLease(state.lease), sleep(SHARE_MS_MAX, null, { ref: false })]);
  }

  async function renew(): Promise<void> {
    const active = supervisor?.getActive() ?? { policy_revision: null, policy_hash: null };
    if (active.policy_revision !== state.lease.policy_revision) await shareRevision(active.policy_revision);
    const report = { ...active, fence_count: state.fence_count };
    // The lease in the database begins after this moment, so it ends after the one that this node grants itself.
    const sentMs = readMachineMs();
    const isOwn = (await coordinator.renew(report)) || (await coordinator.join());
    if (!isOwn) {
      if (!state.is_name_lost)
        log.error('another process has the name of this node, and this one is fenced', { node_id: nodeId });
      state.is_name_lost = true;
      return;
    }
    state.is_name_lost = false;
    state.newest_revision = sumRevisions(await readRevisions(store.db));
    const { policy_revision } = active;
    const validUntilMs = sentMs + LEASE_MS - MARGIN_MS;
    if (sentMs - state.compared_machine_ms >= COMPARE_MS) {
      state.policies_differ = havePoliciesThatDiffer(await coordinator.listNodes());
      state.compared_machine_ms = sentMs;
    }
    state.lease = {
      valid_until_ms: validUntilMs,
      synced_ms: Date.now(),
      policy_revision,
      policies_differ: state.policies_differ,
    };
    state.renewed_machine_ms = sentMs;
    if (policy_revision === state.newest_revision) state.current_machine_ms = sentMs;
    fence.useLease(state.lease);
    void supervisor?.onLease(state.lease);
    if (policy_revision !== null && policy_revision !== state.newest_revision)
      void supervisor?.onNewRevision();
  }

  function noteFence(): void {
    const isFenced = fence.findFenced() !== null;
    if (isFenced === state.is_fenced) return;
    state.is_fenced = isFenced;
    if (isFenced) state.fence_count += 1;
    const fields = { node_id: nodeId, on_partition: config.cluster.on_partition };
    if (isFenced)
      log.error('the lease of this node has ended: it is fenced until the database answers', fields);
    else log.info('this node has a lease again', fields);
    supervisor?.onFenceChange(isFenced);
  }

  /** Renewals run one at a time, so that an old one never overwrites a new one. */
  function renewNow(): Promise<void> {
    renewing = renewing.then(async () => {
      if (isClosed) return;
      await renew().catch((fault) => log.debug('the lease could not be renewed', describeStoreFault(fault)));
      noteFence();
    });
    return renewing;
  }

  function plan(): void {
    if (isClosed) return;
    timer = setTimeout(() => void renewNow().finally(plan), RENEW_MS).unref();
  }

  const listNodes = () => coordinator.listNodes();
  const awaitActive = async (): Promise<ClusterActivation> => {
    await renewNow();
    await bus.publish({ topic: 'revision', id: '' });
    const revision = sumRevisions(await readRevisions(store.db));
    const untilMs = performance.now() + ACTIVATION_MS_MAX;
    for (;;) {
      // A node that starts does not decide yet, and reads the newest revision before it does.
      const live = (await listNodes()).filter((node) => node.is_live && node.policy_revision !== null);
      const active = live.filter((node) => node.policy_revision! >= revision);
      if (active.length === live.length || performance.now() > untilMs)
        return { policy_revision: revision, nodes: live.length, active_nodes: active.length };
      await sleep(ACTIVATION_LOOK_MS);
    }
  };

  await renewNow();
  plan();
  return {
    fence,
    bus,
    supervise: (given) => {
      supervisor = given;
    },
    renewNow,
    takeJob: async (job) => fence.findFenced() === null && (await coordinator.takeJob(job)),
    getStatus: async () => {
      const nodes = await listNodes().catch(() => []);
      return buildClusterStatus({ node_id: nodeId, fence, newest_revision: state.newest_revision, nodes });
    },
    awaitActive,
    listMetrics: async () => {
      const nodes = await listNodes().catch(() => null);
      const nowMs = readMachineMs();
      const { policy_revision } = state.lease;
      return buildClusterMetrics({
        live_nodes: nodes?.filter(({ is_live }) => is_live).length ?? null,
        lease_age_ms: nowMs - state.renewed_machine_ms,
        revision_lag: Math.max(0, state.newest_revision - (policy_revision ?? 0)),
        staleness_ms: nowMs - state.current_machine_ms,
        is_fenced: fence.findFenced() !== null,
        fence_count: state.fence_count,
      });
    },
    leave: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await renewing;
      await coordinator.leave().catch(() => {});
      await bus.close();
      await store.close();
    },
  };
}
