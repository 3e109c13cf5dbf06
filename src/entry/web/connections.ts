import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections of one worker. Above `CROWDED` of them, connections whose request is not complete make room. */
const CONNECTIONS_MAX = 8_192;
const CROWDED = 15 / 16;
/** File descriptors that are left for journal, index, store and connections to providers. */
const RESERVED_FILES = 512;
/** A scan that found nothing to close is not repeated sooner, so that a connection costs the same in a crowd. */
const SCAN_PAUSE_MS = 1_000;

interface Connection {
  /** The exchange that came last; `null` before the first request's headers are complete. */
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse } | null;
}

/**
 * Keeps a server within its number of connections. Further ones are closed at once; in a crowd the oldest ones
 * whose request is not complete are closed first, then idle ones, so that complete requests get through while
 * thousands of clients drip.
 */
export function limitConnections(server: Server, connections_max = connectionsAllowed()): void {
  server.maxConnections = connections_max;
  const crowded = Math.max(1, Math.floor(connections_max * CROWDED));
  const open = new Map<Socket, Connection>();
  let paused_until_ms = 0;
  server.on('connection', (socket: Socket) => {
    open.set(socket, { exchange: null });
    socket.once('close', () => open.delete(socket));
    if (open.size <= crowded || performance.now() < paused_until_ms) return;
    const closed = makeRoom(open, socket, connections_max - crowded + 1);
    if (closed === 0) paused_until_ms = performance.now() + SCAN_PAUSE_MS;
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(request.socket);
    if (connection !== undefined) connection.exchange = { request, response };
  });
  // A WebSocket has its own heartbeat.
  server.on('upgrade', ({ socket }: IncomingMessage) => void open.delete(socket));
}

/** Closes up to `count` connections and returns how many. A `Map` lists them oldest first. */
function makeRoom(open: ReadonlyMap<Socket, Connection>, newest: Socket, count: number): number {
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

/** As many as this process may have files open, less those that it needs itself. */
function connectionsAllowed(): number {
  return Math.max(64, Math.min(CONNECTIONS_MAX, filesAllowed() - RESERVED_FILES));
}

/** The limit of open files, where the system tells it. */
function filesAllowed(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** How long a client that was answered before its request was complete may take to read that answer. */
const LINGER_MS = 1_000;

/**
 * Ends a connection with its last bytes. It is destroyed when the client has closed its side, or after a
 * second: a client that keeps sending, or reads nothing, would hold the file descriptor for ever.
 */
export function endConnection(socket: Socket, last: string): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
