import type { Crossing, Policy } from '../core/types/index.ts';
import type { Store } from '../platform/store/index.ts';
import type { Caller, FirstSignIn, User } from '../runtime/access/types.ts';
import type { ActionErasure } from '../runtime/audit/erase-actions.ts';
import type { EventStream } from '../runtime/audit/events/types.ts';
import type { AuditEvent, AuditQueries } from '../runtime/audit/types.ts';
import type { NodeLease } from '../runtime/cluster/fence.ts';
import type { ClusterActivation, ClusterStatus } from '../runtime/cluster/types.ts';
import type { PresentCapability } from '../runtime/enforcement/capability.ts';
import type { ActorContext } from '../runtime/enforcement/crossings.ts';
import type { SessionResetTarget } from '../runtime/enforcement/sessions/types.ts';
import type { EnforcementExtras, Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import type { DriverState, ServiceProcesses } from '../runtime/observability/service-state.ts';
import type { Telemetry } from '../runtime/observability/telemetry/types.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ConfigResult } from '../runtime/policies/load-config.ts';
import type { PolicyDraft, PolicyResult } from '../runtime/policies/load-policy.ts';
import type { ReloadFailure, ReloadReport } from '../runtime/policies/reload-report.ts';
import type { ModelCosts } from './model-costs.ts';
import type { ListRecentAlerts } from './recent-alert.ts';

/**
 * The services that operations use. There is one per process that answers: a worker, the parent behind its socket, or a
 * CLI that runs without a service. Its results are for the whole service and not for one worker. A feature adds its own
 * members to this interface, next to its own types (`declare module`).
 */
export interface Runtime extends ServiceRuntime {}

/** A runtime for one command, without a service. */
export interface LocalRuntime extends Runtime {
  /** Writes every event that was answered before the call to the journal, and returns the journal folder. */
  readonly settleJournal: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The services that are there without any feature. */
export interface ServiceRuntime extends AuditQueries {
  readonly version: string;
  readonly mode: 'sidecar' | 'gateway';
  /** Start time of the service, in milliseconds since 1970. */
  readonly started_ms: number;
  readonly limits: {
    readonly body_bytes_max: number;
    /** Folders below which a caller may have files read. */
    readonly file_roots: readonly string[];
    /** The service's own state folder. No file in it is ever read for a caller, even if it lies below a root. */
    readonly state_dir: string;
  };
  readonly now_ms: () => number;
  /** SHA-256 of the prompts that the configuration lists, in hex. */
  readonly operator_prompts: ReadonlySet<string>;
  /** Configured users and their access. If empty, the default users apply. */
  readonly users: readonly User[];
  /** Finds the user by a session cookie; `null` if it is not valid. Without accounts, it never is. */
  readonly identifyUser: (sessionToken: string) => Promise<Caller | null>;
  /** Creates the first administrator's one-time link if there is no administrator and a terminal shows it. */
  readonly prepareFirstSignIn: (isTerminal: boolean) => Promise<FirstSignIn>;
  /** Returns the active policy. A request takes it once and keeps it. */
  readonly policy: () => Policy;
  /** Returns the policy with that hash: the active one, or an earlier one that was saved; `null` if it is gone. */
  readonly policyOf: (hash: string) => Promise<Policy | null>;
  /** Judges a crossing and records the event. Never rejects: a fault is a verdict that blocks. */
  readonly enforce: (
    crossing: Crossing,
    caller: Caller,
    endpoint: Endpoint,
    approvalRequestId?: string | null,
    extras?: EnforcementExtras,
  ) => Promise<Ruling>;
  /**
   * Records that a coding agent opened a session, if the policy depends on where values come from. Never rejects:
   * without the record, the session's prompts are no person's.
   */
  readonly openSession: (actor: ActorContext, caller: Caller) => Promise<void>;
  /**
   * Opens the store next to the journal. Rejects with a `StoreFailure` if it is not available. An operation need not
   * catch that error, nor those of the store's own queries.
   */
  readonly store: () => Promise<Store>;
  /** The telemetry status; `null` if telemetry is off. */
  readonly telemetry: Telemetry | null;
  /** Budgets and prices for model calls. Opened with the first model call. */
  readonly modelCosts: () => Promise<ModelCosts>;
  /** Presents a capability token. A service without capability tokens refuses every token. */
  readonly presentCapability: PresentCapability;
  /** Lists the newest alerts. A service without alerts has none. */
  readonly listRecentAlerts: ListRecentAlerts;
  /** Writes an event that belongs to no crossing. Rejects with `Unavailable` if the journal cannot be written. */
  readonly note: (event: AuditEvent) => Promise<void>;
  /** Returns `true` if all stores are open and answer. */
  readonly ready: () => Promise<boolean>;
  /** The processes of the service; `null` in a process that belongs to no service. */
  readonly processes: () => Promise<ServiceProcesses | null>;
  /** Checks the parts that the configuration connects. Never rejects; answers of the last seconds are reused. */
  readonly drivers: () => Promise<readonly DriverState[]>;
  /** Returns the cluster as this node sees it; `null` without one. */
  readonly clusterStatus: () => Promise<ClusterStatus | null>;
  /**
   * Notifies all nodes about a change, and waits until it is active on all live ones, for some seconds at most. `null`
   * without a cluster, or if the database does not answer.
   */
  readonly awaitClusterActive: () => Promise<ClusterActivation | null>;
  /** Returns the lease of this node; `null` without a cluster. */
  readonly lease: () => (NodeLease & { readonly is_fenced: boolean }) | null;
  /** Entries of the state folder that are not of this service, at most 20. They are skipped. */
  readonly foreignEntries: () => readonly string[];
  /** Agent IDs that any worker has received since the start, sorted, at most 1,000. */
  readonly agentsSeen: () => Promise<readonly string[]>;
  /** The metrics of all workers, in the Prometheus text format 0.0.4. */
  readonly metricsText: () => Promise<string>;
  /** The configured plug-ins, and the templates that they provide. */
  readonly plugins: () => Promise<PluginsInUse>;
  /** Reads the configuration again. References to secrets and variables of credentials stay as they are written. */
  readonly configuration: () => Promise<ConfigResult>;
  /** Returns the fingerprint that was sealed for an event; `null` if this service did not seal it for that event. */
  readonly unsealFingerprint: (sealed: string, eventId: string) => string | null;
  /**
   * Compiles the policy that would be active with another managed policy or other documents. Nothing changes. The
   * managed policy is the active one if the draft does not replace it.
   */
  readonly compileDraft: (draft: PolicyDraft) => Promise<PolicyResult>;
  /** Activates the API keys of the store. Resolves when no worker accepts a key that was revoked before the call. */
  readonly activateApiKeys: () => Promise<void>;
  readonly reload: (caller: Caller) => Promise<ReloadReport>;
  /**
   * Erases shown actions from all journals and the index, and returns their number. Rejects with an AuditFailure
   * `actions_held` under a legal hold.
   */
  readonly eraseActions: (erasure: ActionErasure) => Promise<number>;
  /** Clears the taint tags of sessions and returns how many sessions had any. Durable when it resolves. */
  readonly resetSession: (target: SessionResetTarget, caller: Caller) => Promise<number>;
  /** Returns why the last policy reload failed; `null` if it did not, or if the service does not answer in time. */
  readonly reloadFailure: () => Promise<ReloadFailure | null>;
  /**
   * The stream of events, loaded with the first reader. `null` if there is no audit log, because the stream is read
   * from it.
   */
  readonly events: (() => Promise<EventStream>) | null;
}
