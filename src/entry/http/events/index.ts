import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findUnavailableRefusal } from '../../../operations/call.ts';
import { answerError, answerUpgrade } from '../../web/errors.ts';
import { admitSubscriber, type EventPorts } from './admit-subscriber.ts';
import { EVENTS_STREAM, EVENTS_WEBSOCKET } from './routes.ts';
import { findUpgrade, routeUpgrades } from './upgrade.ts';

/** Adds the event stream, over WebSockets and as server-sent events. Its handlers are loaded with the first reader. */
export function addEventRoutes(app: FastifyInstance, ports: EventPorts): void {
  routeUpgrades(app);
  app.route({
    method: 'GET',
    url: EVENTS_WEBSOCKET.http.path,
    exposeHeadRoute: false,
    errorHandler: (error, request, reply) => answerStreamError(error, request, reply, ports),
    handler: async (request, reply) => {
      const upgrade = findUpgrade(request.raw);
      if (upgrade === undefined) return answerUpgrade(request, reply);
      const admitted = await admitSubscriber(request, ports, 'websocket');
      const { openWebSocket } = await import('./websocket.ts');
      await openWebSocket({ upgrade, request, reply, admitted, ports });
      return reply;
    },
  });
  app.route({
    method: 'GET',
    url: EVENTS_STREAM.http.path,
    exposeHeadRoute: false,
    errorHandler: (error, request, reply) => answerStreamError(error, request, reply, ports),
    handler: async (request, reply) => {
      const admitted = await admitSubscriber(request, ports, 'server_sent');
      const { openServerSent } = await import('./server-sent.ts');
      await openServerSent({ reply, admitted, ports });
      return reply;
    },
  });
}

function answerStreamError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log }: EventPorts,
): Promise<FastifyReply> {
  return answerError(findUnavailableRefusal(error) ?? error, request, reply, null, log);
}
