import type { Policy } from '../core/types/index.ts';
import type { Runtime } from '../operations/runtime.ts';
import type { Caller, FirstSignIn } from '../runtime/access/types.ts';
import type { FollowedPage, FollowRequest } from '../runtime/audit/events/follow-index.ts';
import type { Config } from '../runtime/config/index.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';

/** The runtime, caller and request ID of one local request. */
export interface DispatchContext {
  readonly runtime: Runtime;
  readonly caller: Caller;
  readonly request_id: string;
}

/**
 * Answers the requests of the local sockets. Each function rejects with a refusal, which has `code`, `message` and
 * `details`.
 */
export interface Dispatch {
  /** Decides the checks of a hook. */
  readonly judgeHook: (request: unknown, context: DispatchContext) => Promise<unknown>;
  readonly parseFollowRequest: (input: unknown, context: DispatchContext) => Promise<FollowRequest>;
  /** Runs the operation with this name. */
  readonly callOperation: (operation: string, input: unknown, context: DispatchContext) => Promise<unknown>;
}

/** The status that the owner of a state folder reports to operators. */
export interface ServiceStatus {
  readonly pid: number;
  /** The HTTP address. `null` for a daemon, which has none. */
  readonly url: string | null;
  readonly version: string;
  readonly workers: readonly { readonly name: string; readonly pid: number }[];
  readonly policy_hash: string;
  readonly generation: number;
}

/** The callbacks of a daemon that decide when it ends. */
export interface DaemonHandlers {
  /** Called with each request, which shows that the daemon is still in use. */
  readonly onRequest: () => void;
  /** Called when another process needs the folder, or when the version of a hook differs from this program. */
  readonly onLeave: () => void;
}

/**
 * Follows the audit log until `signal` is aborted. Returns `null` if the position to start from is not known.
 */
export type FollowAuditLog = (
  followRequest: FollowRequest,
  signal: AbortSignal,
) => Promise<AsyncIterable<FollowedPage> | null>;

/** The options of `startService`. */
export interface ServiceOptions {
  /** The path of the configuration, and the settings of the command line that override it. */
  readonly request: ConfigRequest;
  /**
   * The main module of a worker, which calls `runWorker`. `null` for a daemon, which has no workers and no
   * HTTP.
   */
  readonly worker_url: URL | null;
  /** Answers the local sockets. */
  readonly dispatch: Dispatch;
  readonly version: string;
  /** `true` if the report goes to a terminal. Elsewhere a log would keep the link of the first administrator. */
  readonly is_terminal?: boolean;
  /** The time without a question after which a daemon ends, in milliseconds. */
  readonly idle_ms?: number;
  /** A command runs the daemon for its single call and then ends it, so that others wait instead of calling it. */
  readonly is_own_call?: true;
}

/** A running daemon. It answers over its local sockets only. */
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
  readonly first_sign_in: FirstSignIn;
  readonly status: () => ServiceStatus;
  readonly reload: (callerId: string) => Promise<ReloadReport>;
  /**
   * Stops gracefully, as SIGTERM does. Requests are cut off after ten seconds, or by a second call more than
   * one second later.
   */
  readonly stop: () => Promise<void>;
  /** Resolves when the service has stopped: with 0, or with 1 if requests were cut off. */
  readonly ended: Promise<number>;
}
