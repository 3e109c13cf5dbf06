import type { Policy } from '../core/types.ts';
import type { Config, ConfigRequest } from './config/index.ts';
import type { Dispatch, ServiceStatus } from './serve/socket-server.ts';
import { forkWorker, killWorker } from './serve/workers.ts';
import type { ReloadReport } from './types.ts';

export { StartFailure, type StartFailureCode } from './serve/failure.ts';

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

/**
 * Starts the service in this process and its workers: resolves when they listen. Takes SIGTERM and SIGINT as
 * the sign to stop, SIGHUP as the sign to reload.
 *
 * @throws StartFailure which says what to do
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  // Files that anyone makes from here on, libraries too, are for this user alone.
  process.umask(0o077);
  const started_ms = Date.now();
  // Loading its program takes a worker longer than anything here, so that it begins before all else is loaded.
  const spare = forkWorker(options.worker_url);
  try {
    const { begin } = await import('./serve/begin.ts');
    return await begin(options, spare, started_ms);
  } catch (failure) {
    await killWorker(spare);
    throw failure;
  }
}
