import { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a connection that asks nothing is left open, so that what is on its way already is answered. */
const GRACE_MS = 250;

/**
 * Stops a server without cutting anybody off: it listens no more, answers what was asked and what still comes
 * over connections that are open, and tells each that it is the last answer. Resolves when all are closed.
 */
export async function drain(app: FastifyInstance, grace_ms = GRACE_MS): Promise<void> {
  const { server } = app;
  // Node's own `close` would also cut the connections on which the next request is under way.
  const closed = new Promise((done) => Server.prototype.close.call(server, done));
  const looking = setInterval(() => server.closeIdleConnections(), grace_ms);
  await closed;
  clearInterval(looking);
  await app.close();
}
