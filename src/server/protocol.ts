import type { ApiKey } from '../runtime/access/settings.ts';
import type { StreamBatch } from '../runtime/audit/events/types.ts';
import type { Config } from '../runtime/config/index.ts';
import type { MetricsSnapshot } from '../runtime/observability/metrics.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import type { ReloadFailure, ReloadReport } from '../runtime/policies/reload-report.ts';

/** What a worker needs to begin; plain data, for it crosses to another process. */
export interface WorkerOrders {
  readonly version: string;
  readonly config: Config;
  /** Names its journal; the same after a restart, so that the chain goes on. */
  readonly writer: string;
  /** Where it listens, together with the other workers. Never 0. */
  readonly port: number;
  readonly policy_hash: string;
  readonly generation: number;
  /** When the service started, in milliseconds since 1970. */
  readonly started_ms: number;
}

/** What a worker answers to the parent. */
export type WorkerAnswers = {
  /** Begins to serve; answers when it listens. */
  readonly start: (orders: WorkerOrders) => Promise<{ readonly listening: true }>;
  /** First half of a reload: loads and checks a policy, and keeps it aside. */
  readonly prepare: (next: {
    readonly generation: number;
    readonly hash: string;
  }) => Promise<{ readonly prepared: true }>;
  /** Second half: puts it in force. */
  readonly commit: (next: { readonly generation: number }) => { readonly committed: true };
  readonly abandon: (next: { readonly generation: number }) => { readonly abandoned: true };
  /** Takes the API keys of a reload in place of those before. */
  readonly api_keys: (keys: readonly ApiKey[]) => { readonly taken: true };
  readonly metrics: (nothing: null) => Promise<MetricsSnapshot | null>;
  readonly agents: (nothing: null) => readonly string[];
  /** Takes what has happened, for its readers. */
  readonly events: (batch: StreamBatch) => Promise<{ readonly received: true }>;
  /** Stops accepting, answers what is in flight, closes the journal, ends. */
  readonly stop: (nothing: null) => Promise<{ readonly stopped: true }>;
};

/** What the parent answers to a worker. */
export type ParentAnswers = {
  readonly ready: (nothing: null) => Promise<boolean>;
  /** Why the last reload failed; \`null\` if it did not. */
  readonly reload_failure: (nothing: null) => Promise<ReloadFailure | null>;
  readonly metrics: (nothing: null) => Promise<string>;
  readonly agents: (nothing: null) => Promise<readonly string[]>;
  readonly plugins: (nothing: null) => Promise<PluginsInUse>;
  readonly reload: (by: { readonly caller_id: string }) => Promise<ReloadReport>;
  /** Has what happens sent to a worker from a position on, or no longer. `turn` tells one time from the next. */
  readonly events: (by: {
    readonly worker: string;
    readonly turn: number;
    readonly wanted: boolean;
  }) => Promise<{ readonly position: number }>;
  /** Answers when the index has every event that was durable at the question. */
  readonly sync_index: (nothing: null) => Promise<{ readonly synced: true }>;
};
