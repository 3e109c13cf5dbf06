import type { Policy } from '../core/types/index.ts';
import type { Config } from '../runtime/config/index.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import type { Dispatch, ServiceStatus } from './socket-server.ts';

/** What `startService` is given. */
export interface ServiceOptions {
  /** Where the configuration is, and what the command line says over it. */
  readonly request: ConfigRequest;
  /** The main module of a worker; it calls `runWorker`. `null`: a resident process, which has none and no HTTP. */
  readonly worker_url: URL | null;
  /** Runs operations for the command line. */
  readonly dispatch: Dispatch;
  readonly version: string;
  /** A resident process that nobody has asked anything for so long ends. */
  readonly idle_ms?: number;
}

/** A resident process that runs: it answers over its socket alone. */
export type RunningDaemon = Pick<RunningService, 'ended' | 'stop'>;

/** A service that runs. */
export interface RunningService {
  readonly config: Config;
  /** The policy that it started with. */
  readonly policy: Policy;
  /** The true one, also where 0 was asked for. */
  readonly port: number;
  readonly url: string;
  /** What the person who starts it should know, one sentence each. */
  readonly warnings: readonly string[];
  readonly status: () => ServiceStatus;
  readonly reload: (caller_id: string) => Promise<ReloadReport>;
  /** Stops gracefully, as SIGTERM does. A second call more than a second later, or ten seconds, cut it short. */
  readonly stop: () => Promise<void>;
  /** Resolves when it has stopped: 0, or 1 when requests had to be cut off. */
  readonly ended: Promise<number>;
}
