import type { Kysely } from 'kysely';
import type { Policy } from '../core/types/index.ts';
import type { EventBus } from '../platform/cluster/event-bus.ts';
import type { Log } from '../platform/log.ts';
import type { OutboxQueue } from '../platform/outbox/deliver.ts';
import type { Migrations, Store, StoreTables } from '../platform/store/index.ts';
import type { MaintenanceJob } from '../platform/store/maintenance.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import type { AuditIndex } from '../runtime/audit/audit-index.ts';
import type { Config } from '../runtime/config/index.ts';
import type { EnforcementPorts } from '../runtime/enforcement/types.ts';
import type { ManagedPolicy } from '../runtime/managed-policy/managed-policy.ts';
import type { Metric } from '../runtime/observability/metric.ts';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { DriverState } from '../runtime/observability/service-state.ts';
import type { LazyModel, ModelSettings } from './model-backend.ts';
import type { Runtime } from './runtime.ts';

/** The process that opens a feature. */
export interface FeatureParts {
  readonly config: Config;
  /** The port that the service listens on. */
  readonly port: number | undefined;
  readonly store: () => Promise<Store>;
  /** Returns the active ports; a reload replaces them. */
  readonly ports: () => EnforcementPorts;
  readonly metrics: Metrics | null;
  readonly log: Log;
  /** Prepares a model without loading anything, so a layer that is off costs nothing and cannot send anything. */
  readonly prepareModel: (settings: ModelSettings) => LazyModel;
  /** Returns the runtime with all features' members. */
  readonly runtime: () => Runtime;
  /** Carries hints about changes between the processes of all nodes. A hint may be lost. */
  readonly bus: Pick<EventBus, 'publish' | 'subscribe'>;
}

/** The enforcement ports that features implement. */
export type FeaturePorts = Pick<EnforcementPorts, 'resolveApproval' | 'checkTask' | 'findTaskCostLimits'>;

/** A feature in one process that answers operations. */
export interface OpenFeature {
  /** The members that it adds to `Runtime`, which its own types declare (`declare module`). */
  readonly members: Partial<Runtime>;
  /** The enforcement ports that it implements. */
  readonly ports?: FeaturePorts;
  /** Checks what it connects to. Never rejects. */
  readonly listDrivers?: () => Promise<readonly DriverState[]>;
  /** Answers all waiting callers at once, because the process is about to stop. */
  readonly release?: () => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** The process that owns the state folder. */
export interface BackgroundParts
  extends Pick<FeatureParts, 'config' | 'store' | 'ports' | 'log' | 'runtime'> {
  /** Opens the audit index; `null` without an audit log. */
  readonly index: (() => Promise<AuditIndex>) | null;
  readonly started_ms: number;
}

/** The work of a feature for the whole service. One process does it. */
export interface FeatureBackground {
  readonly jobs?: readonly MaintenanceJob[];
  /** Its jobs do not wait for other features' jobs. */
  readonly runs_apart?: true;
  readonly queues?: readonly OutboxQueue[];
  readonly listMetrics?: () => readonly Metric[] | Promise<readonly Metric[]>;
  readonly close?: () => Promise<void>;
}

/**
 * A part of the service that can be removed: delete its folder, and its lines in `server/features.ts`,
 * `server/feature-operations.ts`, which exports the operations of its `operation-list.ts`, `server/feature-settings.ts`,
 * which lists the sections of its `settings.ts`, and `entry/cli/feature-commands.ts`, which lists the commands of its
 * `command-list.ts`.
 */
export interface Feature {
  /** The features whose modules it imports. */
  readonly needs?: readonly string[];
  readonly migrations?: Migrations;
  readonly open?: (parts: FeatureParts) => OpenFeature;
  readonly openBackground?: (parts: BackgroundParts) => FeatureBackground | Promise<FeatureBackground>;
  /** Reads the managed policy that it keeps. */
  readonly readManagedPolicy?: (db: Kysely<StoreTables>) => Promise<Partial<ManagedPolicy>>;
  /** Copies into the state folder what each process of this node reads there, such as the list of blocked agents. */
  readonly copyToState?: (stateDir: string, store: Store) => Promise<void>;
  /** Reads the API keys that it keeps and that callers may use. */
  readonly readApiKeys?: (db: Kysely<StoreTables>) => Promise<readonly ApiKey[]>;
  /**
   * Returns a function that prepares a policy before the service uses it. It rejects with a `StartFailure`, whose
   * message says what to do, if the policy cannot be used.
   */
  readonly openAdmission?: (config: Config, store: Store) => (policy: Policy) => Promise<void>;
}
