import type { Policy } from '../core/types/index.ts';
import type { Config } from '../runtime/config/index.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import type { Dispatch, ServiceStatus } from './socket-server.ts';

/** The options of `startService`. */
export interface ServiceOptions {
  /** The path of the configuration, and the settings of the command line that override it. */
  readonly request: ConfigRequest;
  /**
   * The main module of a worker, which calls `runWorker`. `null` for a daemon, which has no workers and no
   * HTTP.
   */
  readonly worker_url: URL | null;
  /** Runs operations for the command line. */
  readonly dispatch: Dispatch;
  readonly version: string;
  /** The time without a question after which a daemon ends, in milliseconds. */
  readonly idle_ms?: number;
}

/** A running daemon. It answers over its socket only. */
export type RunningDaemon = Pick<RunningService, 'ended' | 'stop'>;

/** A running service. */
export interface RunningService {
  readonly config: Config;
  /** The policy at the start of the service. */
  readonly policy: Policy;
  /** The real port, also if the configuration has 0. */
  readonly port: number;
  readonly url: string;
  /** The warnings for the operator who starts the service, one sentence each. */
  readonly warnings: readonly string[];
  /** The one-time link that creates the first administrator of the console; `null` if there is one. */
  readonly set_up_link: string | null;
  readonly status: () => ServiceStatus;
  readonly reload: (caller_id: string) => Promise<ReloadReport>;
  /**
   * Stops gracefully, as SIGTERM does. Requests are cut off after ten seconds, or by a second call more than
   * one second later.
   */
  readonly stop: () => Promise<void>;
  /** Resolves when the service has stopped: with 0, or with 1 if requests were cut off. */
  readonly ended: Promise<number>;
}
