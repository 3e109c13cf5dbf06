import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Maximum number of connections of one worker. Above the fraction `CROWDED`, connections with incomplete requests are
 * closed.
 */
const CONNECTIONS_MAX = 8_192;
const CROWDED = 15 / 16;
/** File descriptors that are reserved for the journal, the index, the store and connections to providers. */
const RESERVED_FILES = 512;
/**
 * Minimum time between two scans if the first found nothing to close, so that the cost per connection stays constant
 * under load.
 */
const SCAN_PAUSE_MS = 1_000;

interface Connection {
  /** The last exchange; `null` before the headers of the first request are complete. */
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse } | null;
}

/**
 * Keeps a server within its number of connections. Further connections are closed at once. Under load the oldest ones
 * with an incomplete request are closed first, then idle ones, so that complete requests are served while thousands of
 * clients send slowly.
 */
export function limitConnections(server: Server, connectionsMax = computeConnectionsMax()): void {
  server.maxConnections = connectionsMax;
  const crowded = Math.max(1, Math.floor(connectionsMax * CROWDED));
  const open = new Map<Socket, Connection>();
  let pausedUntilMs = 0;
  server.on('connection', (socket: Socket) => {
    open.set(socket, { exchange: null });
    socket.once('close', () => open.delete(socket));
    if (open.size <= crowded || performance.now() < pausedUntilMs) return;
    const closed = closeIdleConnections(open, socket, connectionsMax - crowded + 1);
    if (closed === 0) pausedUntilMs = performance.now() + SCAN_PAUSE_MS;
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(request.socket);
    if (connection !== undefined) connection.exchange = { request, response };
  });
  // A WebSocket has its own heartbeat.
  server.on('upgrade', ({ socket }: IncomingMessage) => void open.delete(socket));
}

/** Closes up to `count` connections and returns their number. A `Map` iterates from the oldest to the newest. */
function closeIdleConnections(open: ReadonlyMap<Socket, Connection>, newest: Socket, count: number): number {
  const incomplete: Socket[] = [];
  const idle: Socket[] = [];
  for (const [socket, { exchange }] of open) {
    if (incomplete.length >= count) break;
    if (socket === newest) continue;
    if (exchange === null || !exchange.request.complete) incomplete.push(socket);
    else if (exchange.response.writableFinished) idle.push(socket);
  }
  const victims = [...incomplete, ...idle].slice(0, count);
  for (const socket of victims) socket.destroy();
  return victims.length;
}

/** Returns the maximum number of connections: the limit of open files, minus the reserved ones. */
function computeConnectionsMax(): number {
  return Math.max(64, Math.min(CONNECTIONS_MAX, readOpenFilesMax() - RESERVED_FILES));
}

/** Returns the system's limit of open files, if it can be read. */
function readOpenFilesMax(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Time in milliseconds that a client has to read a response that was sent before its request was complete. */
const LINGER_MS = 1_000;

/**
 * Ends a connection with its last bytes. The socket is destroyed when the client closes its side, or after a second: a
 * client that keeps sending, or reads nothing, would hold the file descriptor forever.
 */
export function endConnection(socket: Socket, last: string): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Runs a call without the time limit for silent connections. A model may think for minutes, and the limit of its provider
 * applies.
 */
export async function runWithoutSilenceLimit<Result>(
  socket: Socket,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const silentMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  try {
    return await run();
  } finally {
    socket.setTimeout(silentMs);
  }
}
