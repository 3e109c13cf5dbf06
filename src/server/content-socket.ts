import type { IncomingHttpHeaders } from 'node:http';
import type { Runtime } from '../operations/runtime.ts';
import type { Log } from '../platform/log.ts';
import { buildMcpCaller } from '../runtime/access/callers.ts';
import { getOsUserName } from '../runtime/access/os-user.ts';
import type { JwtSettings } from '../runtime/access/settings.ts';
import type { Caller } from '../runtime/access/types.ts';
import { openHookCallers } from './hook-callers.ts';
import type { DaemonHandlers, Dispatch, ServiceStatus } from './service.ts';
import { OTHER_SERVICE, SocketFailure } from './socket-failure.ts';
import { CONFIG_HEADER, readHeader, readTokenHeader, readUser, VERSION_HEADER } from './socket-headers.ts';
import { type LocalRoute, openSocketHttp, type SocketServer } from './socket-http.ts';

/**
 * The operations of the content socket: the tools that `customshouse mcp` offers to agents, and what the MCP proxy needs. None
 * of them decides on an approval or changes a policy.
 */
export const CONTENT_OPERATIONS = [
  'approvals_cancel',
  'approvals_show',
  'audit_query',
  'check_budget',
  'guard_output',
  'health',
  'intercept_tool',
  'mcp_tools_check',
  'plugins_list',
  'scan_input',
];

export interface ContentSocketOptions {
  readonly path: string;
  readonly runtime: Runtime;
  readonly dispatch: Dispatch;
  readonly status: () => ServiceStatus;
  /** The active configuration file with links resolved. `null` for none. */
  readonly config_file: string | null;
  /** The signed tokens of people that are accepted. `null` for none. */
  readonly jwt: JwtSettings | null;
  /** The callbacks of a daemon. `null` for a service, which never ends because of a request. */
  readonly daemon: DaemonHandlers | null;
  readonly log: Log;
}

/**
 * Opens the socket on which content arrives: payloads of hooks, and tool calls and results of MCP servers. A request here
 * is never an operator's, whatever it contains: the path selects the caller, and the table has these routes and no other.
 *
 * No route asks the owner for the state folder. A hook of another program version ends a daemon, which is harmless: the
 * hook decides in its own process and starts the daemon again.
 */
export function openContentSocket(options: ContentSocketOptions): Promise<SocketServer> {
  const { path, log } = options;
  const routes = buildRoutes(options);
  return openSocketHttp({ path, log, findRoute: (url) => routes.get(url), isAuthorized: () => true });
}

function buildRoutes(options: ContentSocketOptions): ReadonlyMap<string, LocalRoute> {
  const { runtime, dispatch, daemon, jwt } = options;
  const findHookCaller = openHookCallers(jwt, runtime.now_ms);
  // Only this user can open the socket.
  const osUser = getOsUserName();
  let last = 0;
  const contextOf = (caller: Caller) => ({ runtime, caller, request_id: `content-${++last}` });
  const judge: LocalRoute = {
    method: 'POST',
    answer: async ({ headers, body }) => {
      daemon?.onRequest();
      refuseStranger(headers, options);
      await refuseOutdatedPolicy(options);
      const caller = await findHookCaller(readUser(headers), readTokenHeader(headers));
      return dispatch.judgeHook(body, contextOf(caller));
    },
  };
  const dialects: LocalRoute = {
    method: 'GET',
    answer: async ({ headers }) => {
      daemon?.onRequest();
      refuseStranger(headers, options);
      return (await runtime.plugins()).dialects;
    },
  };
  const call = (operation: string): LocalRoute => ({
    method: 'POST',
    answer: ({ headers, body }) => {
      daemon?.onRequest();
      return dispatch.callOperation(operation, body, contextOf(buildMcpCaller(readUser(headers), osUser)));
    },
  });
  return new Map([
    ['/hook', judge],
    ['/dialects', dialects],
    ...CONTENT_OPERATIONS.map((name) => [`/operations/${name}`, call(name)] as const),
  ]);
}

/**
 * Refuses a daemon's hooks if its documents became invalid. The hook then loads them itself, and denies with their first
 * problem. A service keeps its previous policy, which its health reports.
 */
async function refuseOutdatedPolicy({ runtime, daemon }: ContentSocketOptions): Promise<void> {
  if (daemon === null || (await runtime.reloadFailure()) !== 'policy_invalid') return;
  throw new SocketFailure(OTHER_SERVICE, 'The policy on disk is not valid, so the daemon decides nothing.');
}

/** Refuses a hook that belongs to another configuration or program version. */
function refuseStranger(
  headers: IncomingHttpHeaders,
  { status, config_file, daemon }: ContentSocketOptions,
): void {
  const version = readHeader(headers, VERSION_HEADER);
  const own = status().version;
  const isOwnVersion = version === own || (version?.startsWith(`${own}+`) ?? false);
  if (!isOwnVersion) daemon?.onLeave();
  if (isOwnVersion && readHeader(headers, CONFIG_HEADER) === config_file) return;
  throw new SocketFailure(
    OTHER_SERVICE,
    'The process that owns the state folder is for another configuration, or of another version.',
  );
}
