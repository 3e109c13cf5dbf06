import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { EVENTS_WEBSOCKET } from './routes.ts';

/** A connection that its client wants to be something else than HTTP. */
export interface Upgrade {
  readonly socket: Socket;
  /** What came behind the request already. */
  readonly head: Buffer;
  readonly response: ServerResponse;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/**
 * Whether a request may leave HTTP. Others that offer to (`Upgrade: h2c`, as some clients do with every request) are
 * answered as if they had not.
 */
export function mayUpgrade({ url = '', headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' && url.split('?', 1)[0] === EVENTS_WEBSOCKET.http.path
  );
}

/** Has requests for another protocol take the road of all requests first: who asks, and may they. */
export function takeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = responseOn(socket, request);
    upgrades.set(request, { socket, head, response });
    app.routing(request, response);
  });
}

/** What a request wants to become; `undefined` where it is one as all others. */
export function upgradeOf(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request);
}

/** For what is answered as HTTP after all: the connection ends behind it, for nobody reads a next request from it. */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  socket.on('error', () => socket.destroy());
  return response;
}
