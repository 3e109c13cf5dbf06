import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { EVENTS_WEBSOCKET } from './routes.ts';

/** A request to upgrade its connection from HTTP to another protocol. */
export interface Upgrade {
  readonly socket: Socket;
  /** Bytes that were received after the request. */
  readonly head: Buffer;
  readonly response: ServerResponse;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/**
 * Returns whether a request may be upgraded. Other upgrade offers are ignored, such as the `Upgrade: h2c` that some
 * clients send with every request.
 */
export function isEventStreamUpgrade({ url = '', headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' && url.split('?', 1)[0] === EVENTS_WEBSOCKET.http.path
  );
}

/** Passes upgrade requests through the HTTP routes first, which authenticate and authorize them. */
export function routeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = createResponse(socket, request);
    upgrades.set(request, { socket, head, response });
    app.routing(request, response);
  });
}

/** Returns the upgrade that a request asks for; `undefined` for an ordinary request. */
export function findUpgrade(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request);
}

/**
 * Creates the response for an upgrade request that is answered over HTTP. The connection ends after it, because no
 * parser reads a next request.
 */
function createResponse(socket: Socket, request: IncomingMessage): ServerResponse {
  // An `import` of this module reads all its exports, one of which loads Node's `fetch`: 75 ms and 4 MB in each worker.
  const response = new (process.getBuiltinModule('node:http').ServerResponse)(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  socket.on('error', () => socket.destroy());
  return response;
}
