import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import {
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
  writeExactJson,
} from '../core/json/value-source.ts';
import type { Json } from '../core/types/index.ts';
import { getOsUserName } from '../runtime/access/os-user.ts';
import type { FollowedPage } from '../runtime/audit/events/follow-index.ts';
import { openSocketPath } from './socket-path.ts';
import {
  openLineReader,
  SOCKET_CONTENT_LEVELS,
  SOCKET_LINE_BYTES_MAX,
  type SocketCaller,
  type SocketReply,
} from './socket-protocol.ts';
import {
  followPages,
  REPLY_TIMEOUT,
  REPLY_TIMEOUT_MS,
  SERVICE_ENDED,
  type SendRequest,
  SocketFailure,
  type UnnumberedRequest,
} from './socket-requests.ts';
import type { ServiceStatus } from './socket-server.ts';
import { buildStatePaths } from './state-dir.ts';

/** A client of a running service, connected through its state folder. */
export interface ServiceClient {
  readonly status: () => Promise<ServiceStatus>;
  /** Resolves when the audit index has every event that was durable before. */
  readonly syncIndex: () => Promise<void>;
  /**
   * Asks the owner to give up the state folder. Resolves with whether it does: a daemon does, a service does
   * not.
   */
  readonly leave: () => Promise<boolean>;
  /**
   * Calls an operation as the user of the operating system, or as the caller `as`. Rejects with a
   * SocketFailure.
   */
  readonly call: (operation: string, input: unknown, as?: SocketCaller) => Promise<unknown>;
  /**
   * Yields new pages of the audit log until the service ends, the client is closed, or the answer times out.
   * Throws a SocketFailure if the service refuses.
   */
  readonly follow: (input: unknown) => AsyncGenerator<FollowedPage>;
  readonly close: () => void;
}

const CONNECT_MS = 2_000;

/** Connects to the service that owns a state folder. Returns `null` if none is running there. */
export async function connectService(state_dir: string): Promise<ServiceClient | null> {
  const socket = await openSocket(buildStatePaths(state_dir).socket);
  if (socket === null) return null;
  const waiting = new Map<number, (reply: SocketReply) => void>();
  const lines = openLineReader(SOCKET_LINE_BYTES_MAX);
  let last_id = 0;

  function end(): void {
    for (const [id, onReply] of waiting) onReply({ id, refusal: SERVICE_ENDED });
    waiting.clear();
    socket?.destroy();
  }
  socket.on('data', (chunk: Buffer) => {
    for (const line of lines(chunk) ?? []) {
      const reply = parseJson(line) as unknown as SocketReply;
      waiting.get(reply.id)?.(reply);
    }
  });
  socket.on('error', end);
  socket.on('close', end);

  const send: SendRequest = (unnumbered, onReply) => {
    const id = ++last_id;
    waiting.set(id, onReply);
    if (socket.writable) socket.write(`${writeExactJson({ id, ...unnumbered }, SOCKET_CONTENT_LEVELS)}\n`);
    else end();
    return () => void waiting.delete(id);
  };

  async function request(unnumbered: UnnumberedRequest): Promise<unknown> {
    const replied = Promise.withResolvers<SocketReply>();
    const timer = setTimeout(() => replied.resolve({ id: 0, refusal: REPLY_TIMEOUT }), REPLY_TIMEOUT_MS);
    const stopListening = send(unnumbered, replied.resolve);
    const reply = await replied.promise;
    clearTimeout(timer);
    stopListening();
    if ('refusal' in reply) throw new SocketFailure(reply.refusal);
    if (unnumbered.method === 'call')
      rememberNestedSources(reply as unknown as Json, SOURCE_LIMITS, SOCKET_CONTENT_LEVELS);
    return 'value' in reply ? reply.value : null;
  }

  return {
    status: async () => (await request({ method: 'status' })) as ServiceStatus,
    leave: async () => ((await request({ method: 'leave' })) as { leaving: boolean }).leaving,
    syncIndex: async () => void (await request({ method: 'sync_index' })),
    call: (operation, input, as) =>
      request({ method: 'call', operation, input, user: getOsUserName(), ...(as !== undefined && { as }) }),
    follow: (input) => followPages(send, { method: 'follow', input, user: getOsUserName() }),
    close: end,
  };
}

/** Returns `null` if no process listens there: the file is missing, or a killed service left it behind. */
async function openSocket(path: string): Promise<Socket | null> {
  if (!existsSync(path)) return null;
  const short = openSocketPath(path);
  return new Promise<Socket | null>((resolve) => {
    const socket = connect(short.path);
    const give = (result: Socket | null): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (result === null) socket.on('error', () => {}).destroy();
      resolve(result);
    };
    const timer = setTimeout(() => give(null), CONNECT_MS);
    socket.once('connect', () => give(socket));
    socket.once('error', () => give(null));
  }).finally(short.close);
}
