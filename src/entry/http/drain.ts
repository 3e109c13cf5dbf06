import { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Time in milliseconds that an idle connection stays open, so that a request on its way is still answered. */
const GRACE_MS = 250;

/**
 * Stops a server without aborting requests. It accepts no new connections, answers requests on open connections, and
 * marks each answer as the last one. Resolves when all connections are closed.
 */
export async function drainConnections(app: FastifyInstance, graceMs = GRACE_MS): Promise<void> {
  const { server } = app;
  // Node's own `close` would also end connections on which the next request is already being sent.
  const closed = new Promise((done) => Server.prototype.close.call(server, done));
  const looking = setInterval(() => server.closeIdleConnections(), graceMs);
  await closed;
  clearInterval(looking);
  await app.close();
}
