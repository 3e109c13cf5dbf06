import { Refusal } from '../operations/operation.ts';
import type { Runtime } from '../operations/runtime.ts';
import type { Log } from '../platform/log.ts';
import { buildOperatorCaller } from '../runtime/access/callers.ts';
import { isOperatorToken } from '../runtime/access/tokens.ts';
import type { FollowedPage } from '../runtime/audit/events/follow-index.ts';
import { prepareOperatorFolder } from './operator-folder.ts';
import type { DaemonHandlers, Dispatch, DispatchContext, FollowAuditLog, ServiceStatus } from './service.ts';
import { readUser, USER_HEADER } from './socket-headers.ts';
import { type LocalRequest, type LocalRoute, openSocketHttp, type SocketServer } from './socket-http.ts';
import { buildStatePaths } from './state-dir.ts';

export interface OperatorSocketOptions {
  readonly state_dir: string;
  readonly runtime: Runtime;
  readonly dispatch: Dispatch;
  readonly status: () => ServiceStatus;
  readonly sync_index: () => Promise<void>;
  /** Follows the audit log. `null` if there is none. */
  readonly follow: FollowAuditLog | null;
  /** The callbacks of a daemon. `null` for a service, which never ends because of a request. */
  readonly daemon: DaemonHandlers | null;
  readonly log: Log;
}

/** The limit of clients that follow the audit log. The remaining connections are for other requests. */
const FOLLOWERS_MAX = 16;
const OPERATIONS = '/operations/';
const BEARER = 'Bearer ';

/**
 * Opens the socket of operators: the command line, and a service that needs the state folder. Every request carries the
 * operator token, reading too. Without it nothing happens.
 *
 * @throws StartFailure if the folder of the socket cannot be trusted
 */
export async function openOperatorSocket(options: OperatorSocketOptions): Promise<SocketServer> {
  const { state_dir, log } = options;
  prepareOperatorFolder(state_dir);
  const routes = buildRoutes(options);
  return openSocketHttp({
    path: buildStatePaths(state_dir).operator_socket,
    log,
    findRoute: (url) =>
      url.startsWith(OPERATIONS) ? buildCall(url.slice(OPERATIONS.length), options) : routes.get(url),
    isAuthorized: ({ authorization = '' }) =>
      authorization.startsWith(BEARER) && isOperatorToken(authorization.slice(BEARER.length), state_dir),
  });
}

function buildRoutes(options: OperatorSocketOptions): ReadonlyMap<string, LocalRoute> {
  const { status, sync_index, daemon } = options;
  const followers = { count: 0 };
  return new Map<string, LocalRoute>([
    ['/status', { method: 'GET', answer: status }],
    ['/sync-index', { method: 'POST', answer: sync_index }],
    ['/leave', { method: 'POST', answer: () => requestExit(daemon) }],
    ['/follow', { method: 'POST', answer: (request) => followEvents(request, options, followers) }],
  ]);
}

/** Asks the owner for the state folder. A daemon gives it up, and a service does not. */
function requestExit(daemon: DaemonHandlers | null): { readonly leaving: boolean } {
  daemon?.onLeave();
  return { leaving: daemon !== null };
}

function buildCall(operation: string, options: OperatorSocketOptions): LocalRoute {
  return {
    method: 'POST',
    answer: (request) => {
      options.daemon?.onRequest();
      return options.dispatch.callOperation(operation, request.body, buildContext(request, options));
    },
  };
}

/** The token proves an operator. The name of its user is for the audit log; an MCP server of an operator names none. */
function buildContext({ headers }: LocalRequest, { runtime }: OperatorSocketOptions): DispatchContext {
  const id = headers[USER_HEADER] === undefined ? 'operator' : `cli:${readUser(headers)}`;
  return { runtime, caller: buildOperatorCaller(id), request_id: 'cli' };
}

/** Opens the pages of the audit log for one client. They end with its connection, and do not keep a daemon alive. */
async function followEvents(
  request: LocalRequest,
  options: OperatorSocketOptions,
  followers: { count: number },
): Promise<AsyncIterable<FollowedPage>> {
  const { dispatch, follow } = options;
  const followRequest = await dispatch.parseFollowRequest(request.body, buildContext(request, options));
  if (follow === null)
    throw new Refusal(
      'not_configured',
      'There is no index of the audit log: `audit.enabled` is `false`, or `audit.index` is `off`.',
    );
  if (followers.count >= FOLLOWERS_MAX) throw new Refusal('unavailable', 'Too many follow the audit log.');
  const { signal } = request;
  signal.throwIfAborted();
  followers.count += 1;
  signal.addEventListener('abort', () => {
    followers.count -= 1;
  });
  const pages = await follow(followRequest, signal);
  if (pages === null) throw new Refusal('not_found', 'The event `after` is not known, or no longer.');
  return pages;
}
