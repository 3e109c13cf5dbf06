import type { Policy } from '../../core/types.ts';
import type { Config, ConfigRequest } from '../config/index.ts';
import type { ReloadReport } from '../types.ts';
import type { Dispatch, ServiceStatus } from './socket-server.ts';

/** What `startService` is given. */
export interface ServiceOptions {
  /** Where the configuration is, and what the command line says over it. */
  readonly request: ConfigRequest;
  /** The main module of a worker; it calls `runWorker`. */
  readonly worker_url: URL;
  /** Runs operations for the command line. */
  readonly dispatch: Dispatch;
  readonly version: string;
}

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
