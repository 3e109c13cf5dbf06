import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import {
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
  writeExactJson,
} from '../core/json/value-source.ts';
import type { Json } from '../core/types/index.ts';
import type { Runtime } from '../operations/runtime.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { buildAgentCaller, buildMcpCaller, buildOperatorCaller } from '../runtime/access/callers.ts';
import type { Caller } from '../runtime/access/types.ts';
import type { DialectSpec } from '../runtime/adapters/types.ts';
import type { FollowedPage, FollowRequest } from '../runtime/audit/events/follow-index.ts';
import { openSocketPath } from './socket-path.ts';
import {
  openLineReader,
  SOCKET_CONTENT_LEVELS,
  SOCKET_LINE_BYTES_MAX,
  type SocketRefusal,
  type SocketReply,
  type SocketRequest,
} from './socket-protocol.ts';

/** Runs the operation with this name. Rejects with a refusal, which has `code`, `message` and `details`. */
export type Dispatch = (
  operation: string,
  input: unknown,
  context: { readonly runtime: Runtime; readonly caller: Caller; readonly request_id: string },
) => Promise<unknown>;

/** The operation name under which `dispatch` receives the questions of hooks. */
export const HOOK_OPERATION = 'hook';

/**
 * The operation name under which `dispatch` receives a request to follow the audit log. It returns a
 * `FollowRequest`.
 */
export const FOLLOW_OPERATION = 'follow';

/** The status that the owner of a state folder reports over its socket. */
export interface ServiceStatus {
  readonly pid: number;
  /** The HTTP address. `null` for a daemon, which has no HTTP. */
  readonly url: string | null;
  readonly version: string;
  readonly workers: readonly { readonly name: string; readonly pid: number }[];
  readonly policy_hash: string;
  readonly generation: number;
}

export interface SocketServer {
  readonly close: () => Promise<void>;
}

/** The callbacks of a daemon that decide when it ends. */
export interface DaemonHandlers {
  /** Called with each question, which shows that the daemon is still in use. */
  readonly onRequest: () => void;
  /** Called when another process needs the folder, or when the version of a hook differs from this program. */
  readonly onLeave: () => void;
}

/**
 * Follows the audit log until `signal` is aborted. Returns `null` if the position to start from is not known.
 */
export type FollowAuditLog = (
  follow_request: FollowRequest,
  signal: AbortSignal,
) => Promise<AsyncIterable<FollowedPage> | null>;

const CONNECTIONS_MAX = 64;
/** The limit of connections that follow the audit log. The remaining connections are for questions. */
const FOLLOWERS_MAX = 16;
/** The number of questions of one connection that run at the same time. */
const PENDING_MAX = 32;

/**
 * Opens the socket of the command line. The operating system lets only the owner of the state folder open it,
 * which proves the identity of the user.
 *
 * @param options.path - the socket. One that a killed service left behind is replaced.
 */
export async function openSocketServer(options: {
  readonly path: string;
  readonly runtime: Runtime;
  readonly dispatch: Dispatch;
  readonly status: () => ServiceStatus;
  readonly sync_index: () => Promise<void>;
  /** The active configuration file with links resolved. `null` for none. */
  readonly config_file: string | null;
  /** Follows the audit log. `null` if there is none. */
  readonly follow: FollowAuditLog | null;
  /** The callbacks of a daemon. `null` for a service, which never ends because of a question. */
  readonly daemon: DaemonHandlers | null;
  readonly log: Log;
}): Promise<SocketServer> {
  const connections = new Set<Socket>();
  const followers = new Set<Socket>();
  const server = createServer((socket) => {
    if (connections.size >= CONNECTIONS_MAX) return void socket.destroy();
    connections.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => connections.delete(socket));
    serveSocket(socket, options, followers);
  });
  rmSync(options.path, { force: true });
  const short = openSocketPath(options.path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(short.path, resolve);
  });
  chmodSync(options.path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          short.close();
          rmSync(options.path, { force: true });
          resolve();
        });
        for (const socket of connections) socket.destroy();
      }),
  };
}

type Options = Parameters<typeof openSocketServer>[0];

function serveSocket(socket: Socket, options: Options, followers: Set<Socket>): void {
  const lines = openLineReader(SOCKET_LINE_BYTES_MAX);
  let requested = 0;
  socket.on('data', (chunk: Buffer) => {
    const read = lines(chunk);
    if (read === null) return void socket.destroy();
    for (const line of read) {
      if (++requested > PENDING_MAX) return void socket.destroy();
      void answerLine(line, options, { socket, followers }).then((settled) => {
        requested -= 1;
        if (socket.writable) socket.write(`${writeExactJson(settled, SOCKET_CONTENT_LEVELS)}\n`);
      });
    }
  });
}

/** An open connection, and all connections that follow the audit log. */
interface Peer {
  readonly socket: Socket;
  readonly followers: Set<Socket>;
}

async function answerLine(line: string, options: Options, peer: Peer): Promise<SocketReply> {
  let id = 0;
  try {
    const request = parseJson(line) as unknown as SocketRequest;
    if (request.method === 'hook' || request.method === 'call')
      rememberNestedSources(request as unknown as Json, SOURCE_LIMITS, SOCKET_CONTENT_LEVELS);
    id = Number(request.id);
    return { id, value: (await answerTo(request, options, peer)) ?? null };
  } catch (error) {
    return { id, refusal: getRefusal(error, options.log) };
  }
}

function answerTo(request: SocketRequest, options: Options, peer: Peer): unknown {
  if (request.method === 'status') return options.status();
  if (request.method === 'sync_index') return options.sync_index();
  if (request.method === 'leave') return requestDaemonExit(options);
  // A follower does not keep a daemon alive.
  if (request.method === 'follow') return followEvents(request, options, peer);
  options.daemon?.onRequest();
  const { runtime, dispatch } = options;
  if (request.method !== 'call') {
    const stranger = refuseStranger(request, options);
    if (stranger !== null) return Promise.reject(stranger);
    if (request.method === 'dialect') return findDialect(request.input, runtime);
    const caller = buildAgentCaller(`hook:${getName(request.user)}`, ['check', 'approvals:own'], '*', '*');
    return dispatch(HOOK_OPERATION, request.input, { runtime, caller, request_id: `hook-${request.id}` });
  }
  const request_id = `cli-${request.id}`;
  return dispatch(request.operation, request.input, { runtime, caller: getCaller(request), request_id });
}

async function findDialect(wanted: unknown, { plugins }: Runtime): Promise<DialectSpec | null> {
  const { dialects } = await plugins();
  return dialects.find(({ name }) => name === wanted) ?? null;
}

/**
 * Returns the caller of a question. A question on behalf of an agent gets the rights of an agent, and so does
 * one with an unknown `as`.
 */
function getCaller({ user, as }: Extract<SocketRequest, { method: 'call' | 'follow' }>): Caller {
  if (as === undefined) return buildOperatorCaller(`cli:${getName(user)}`);
  return as === 'operator' ? buildOperatorCaller('operator') : buildMcpCaller(getName(user));
}

async function followEvents(
  request: Extract<SocketRequest, { method: 'follow' }>,
  { runtime, dispatch, follow: followAuditLog }: Options,
  { socket, followers }: Peer,
): Promise<void> {
  const { id, input } = request;
  const context = { runtime, caller: getCaller(request), request_id: `cli-${id}` };
  const follow_request = (await dispatch(FOLLOW_OPERATION, input, context)) as FollowRequest;
  if (followAuditLog === null)
    return rejectWith('not_configured', 'There is no audit log: `audit.enabled` is `false`.');
  if (followers.size >= FOLLOWERS_MAX || followers.has(socket))
    return rejectWith('unavailable', 'Too many follow the audit log.');
  followers.add(socket);
  const gone = new AbortController();
  const end = (): void => gone.abort();
  socket.once('close', end);
  if (socket.destroyed) end();
  try {
    const pages = await followAuditLog(follow_request, gone.signal);
    if (pages === null) return await rejectWith('not_found', 'The event `after` is not known, or no longer.');
    for await (const page of pages) await sendReply(socket, { id, page }, gone.signal);
  } catch (fault) {
    // The reader may already be closed after its client has disconnected.
    if (!gone.signal.aborted) throw fault;
  } finally {
    followers.delete(socket);
    socket.off('close', end);
  }
}

/** Resolves when the next page can be sent, so that pages for a slow reader do not pile up. */
async function sendReply(socket: Socket, answer: SocketReply, signal: AbortSignal): Promise<void> {
  if (signal.aborted || socket.write(`${JSON.stringify(answer)}\n`)) return;
  await once(socket, 'drain', { signal }).catch(() => {});
}

function rejectWith(code: string, message: string): Promise<never> {
  const refusal: SocketRefusal = { code, message, details: [] };
  return Promise.reject(refusal);
}

function requestDaemonExit({ daemon }: Options): { readonly leaving: boolean } {
  daemon?.onLeave();
  return { leaving: daemon !== null };
}

/**
 * Returns why this process must not answer a hook. A daemon of a different program version gives way to the
 * hook's own.
 */
function refuseStranger(
  { version, config_file }: Extract<SocketRequest, { config_file: unknown }>,
  { status, config_file: own, daemon }: Options,
): SocketRefusal | null {
  const is_own_version = version === status().version || String(version).startsWith(`${status().version}+`);
  if (!is_own_version) daemon?.onLeave();
  if (is_own_version && config_file === own) return null;
  const message =
    'The process that owns the state folder is for another configuration, or of another version.';
  return { code: 'other_service', message, details: [] };
}

/**
 * Returns the user name that the client reports. The socket proves that the client is the owner of the folder
 * or root.
 */
function getName(user: unknown): string {
  return typeof user === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(user) ? user : 'unknown';
}

function getRefusal(error: unknown, log: Log): SocketRefusal {
  const { code, message, details } = error as { code?: unknown; message?: unknown; details?: unknown };
  if (typeof code === 'string' && Array.isArray(details)) return { code, message: String(message), details };
  log.error('a command could not be answered', describeFault(error));
  return { code: 'internal', message: 'The service has a fault; its log says where.', details: [] };
}
