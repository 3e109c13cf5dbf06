import type { Hint } from '../platform/cluster/event-bus.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import type { ActionErasure } from '../runtime/audit/erase-actions.ts';
import type { StreamBatch } from '../runtime/audit/events/types.ts';
import type { NodeLease } from '../runtime/cluster/fence.ts';
import type { ClusterActivation, ClusterStatus } from '../runtime/cluster/types.ts';
import type { Config } from '../runtime/config/index.ts';
import type { MetricsSnapshot } from '../runtime/observability/metrics.ts';
import type { ServiceProcesses } from '../runtime/observability/service-state.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadFailure, ReloadReport } from '../runtime/policies/reload-report.ts';

/** The data that a worker needs to start. It is plain data, because it is sent to another process. */
export interface WorkerStart {
  /** The path and the overrides with which the configuration is read again. */
  readonly request: Omit<ConfigRequest, 'env'>;
  readonly version: string;
  readonly config: Config;
  /** The name of the worker's journal. It is the same after a restart, so the chain continues. */
  readonly writer: string;
  /** The port on which all workers listen. Never 0. */
  readonly port: number;
  readonly policy_hash: string;
  readonly generation: number;
  /** The lease of this node; `null` without a cluster. */
  readonly lease: NodeLease | null;
  /** The start time of the service, in milliseconds since 1970. */
  readonly started_ms: number;
}

/** The requests that a worker answers for the parent. */
export type WorkerMethods = {
  /** Opens the policy and the journal. The worker can judge, and does not listen yet. */
  readonly start: (orders: WorkerStart) => Promise<{ readonly started: true }>;
  /** Starts to serve. Answers when the worker listens. */
  readonly listen: (nothing: null) => Promise<{ readonly listening: true }>;
  /** First phase of a reload: loads and checks a policy, and keeps it as prepared. */
  readonly prepare: (next: {
    readonly generation: number;
    readonly hash: string;
  }) => Promise<{ readonly prepared: true }>;
  /** Second phase of a reload: activates the prepared policy. */
  readonly commit: (next: { readonly generation: number }) => { readonly committed: true };
  readonly abandon: (next: { readonly generation: number }) => { readonly abandoned: true };
  /** Replaces the API keys with those of a reload. */
  readonly api_keys: (keys: readonly ApiKey[]) => { readonly taken: true };
  readonly metrics: (nothing: null) => Promise<MetricsSnapshot | null>;
  readonly agents: (nothing: null) => readonly string[];
  /** Erases shown actions from this worker's journal, and returns their number. */
  readonly erase_actions: (erasure: ActionErasure) => Promise<number>;
  /** Returns the generation of the policy that this worker uses. */
  readonly generation: (nothing: null) => number;
  /** Accepts a batch of events for the subscribers of this worker. */
  readonly events: (batch: StreamBatch) => Promise<{ readonly received: true }>;
  /** Replaces the lease of this node. */
  readonly lease: (lease: NodeLease) => { readonly taken: true };
  /** Delivers a hint to the subscribers in this worker. */
  readonly hint: (hint: Hint) => { readonly taken: true };
  /** Stops accepting requests, answers those in flight, closes the journal and exits. */
  readonly stop: (nothing: null) => Promise<{ readonly stopped: true }>;
};

/** The requests that the parent answers for a worker. */
export type ParentMethods = {
  readonly ready: (nothing: null) => Promise<boolean>;
  /** Returns why the last reload failed, or `null` if it succeeded. */
  readonly reload_failure: (nothing: null) => Promise<ReloadFailure | null>;
  readonly metrics: (nothing: null) => Promise<string>;
  readonly agents: (nothing: null) => Promise<readonly string[]>;
  readonly processes: (nothing: null) => Promise<ServiceProcesses | null>;
  readonly plugins: (nothing: null) => Promise<PluginsInUse>;
  /** Activates the API keys of the store in all workers. */
  readonly activate_keys: (nothing: null) => Promise<{ readonly activated: true }>;
  /** Returns the cluster as this node sees it; `null` without one. */
  readonly cluster: (nothing: null) => Promise<ClusterStatus | null>;
  /** Answers when the newest revision is active on all live nodes, or after some seconds; `null` without a cluster. */
  readonly await_active: (nothing: null) => Promise<ClusterActivation | null>;
  /** Sends a hint to the processes of all nodes. */
  readonly publish: (hint: Hint) => Promise<{ readonly published: true }>;
  readonly reload: (by: { readonly caller_id: string }) => Promise<ReloadReport>;
  /**
   * Starts or stops sending events to a worker from a position on. `turn` distinguishes one subscription from
   * the next.
   */
  readonly events: (by: {
    readonly worker: string;
    readonly turn: number;
    readonly wanted: boolean;
  }) => Promise<{ readonly position: number }>;
  /** Erases shown actions from all journals and the index, and returns their number. */
  readonly erase_actions: (erasure: ActionErasure) => Promise<number>;
  /** Answers when the index has every event that was durable at the time of the call. */
  readonly sync_index: (nothing: null) => Promise<{ readonly synced: true }>;
};
