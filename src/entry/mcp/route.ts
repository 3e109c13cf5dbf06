import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { attachSource } from '../../gateways/mcp/exact-numbers.ts';
import { Refusal } from '../../operations/operation.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { describeFault } from '../../platform/log.ts';
import { buildOriginCheck } from '../../runtime/access/peer.ts';
import type { Config } from '../../runtime/config/index.ts';
import { refuseEncoded } from '../web/body.ts';
import { prepareRefusal, readRefusal, STATUS } from '../web/errors.ts';
import { createDisconnectSignal, type RoutePorts, readNameHeader } from '../web/routes.ts';
import type { McpRequestHandler } from './server/web.ts';

const TOOLS = '/mcp';
const GATEWAY = '/mcp/gateway';

/** The paths of MCP: the service's own tools, and the MCP proxy to the configured servers. */
export const MCP_ROUTES = [TOOLS, GATEWAY].map((path) => ({ http: { method: 'POST', path } }) as const);

export interface McpPorts extends RoutePorts {
  readonly cors_origins: readonly string[];
  /** The servers of the MCP proxy. */
  readonly mcp: Config['mcp'];
}

/** Adds the routes of MCP, for both revisions of the protocol. Their handlers are loaded with the first call. */
export function addMcpRoutes(app: FastifyInstance, ports: McpPorts): void {
  const { runtime, log, mcp } = ports;
  addRoute(app, TOOLS, ports, async () => (await import('./server/web.ts')).openMcpHandler({ runtime, log }));
  addRoute(app, GATEWAY, ports, async () =>
    (await import('./gateway/web.ts')).openGatewayWeb({ runtime, log, mcp }),
  );
}

function addRoute(
  app: FastifyInstance,
  url: string,
  ports: McpPorts,
  open: () => Promise<McpRequestHandler>,
): void {
  const { runtime, log } = ports;
  const web = createLazyValue(open);
  const isOurOrigin = buildOriginCheck(ports.cors_origins);
  app.addHook('preClose', () => web.ifOpened(({ close }) => close()));
  app.route({
    method: 'POST',
    url,
    // Calls are forwarded to servers, which must get numbers with the digits that were sent.
    config: url === GATEWAY ? { readBody: attachSource } : {},
    onRequest: (request, _reply, done) => {
      admitRequest(request, ports, isOurOrigin).then((refusal) => done(refusal ?? undefined), done);
    },
    preParsing: (request, reply, payload, done) => {
      const admitted =
        ports.limit.refusal() ?? ports.limitBody(payload as Readable, request.raw.headers, reply.raw);
      if (admitted instanceof Refusal) done(admitted);
      else done(null, admitted);
    },
    errorHandler: (error, request, reply) => answerError(error, request, reply, log),
    handler: async (request, reply) => {
      const requested = {
        caller: request.caller!,
        request_id: request.id,
        tenant_id: readNameHeader(request, 'x-service-tenant'),
        user_id: readNameHeader(request, 'x-service-user'),
      };
      const opened = await requireInstalled(web.open);
      const { telemetry } = runtime;
      const run = () => opened.fetch(request, createDisconnectSignal(reply), requested);
      const answer = ports.limit.run(() =>
        telemetry === null ? run() : telemetry.within(request.headers, run),
      );
      return reply.send(await answer);
    },
  });
}

/** Authenticates the caller and refuses whatever can be refused without the body. */
async function admitRequest(
  request: FastifyRequest,
  { authenticate }: McpPorts,
  isOurOrigin: ReturnType<typeof buildOriginCheck>,
): Promise<Refusal | null> {
  const refusal = refuseEncoded(request);
  if (refusal !== null) return refusal;
  const { headers } = request.raw;
  // The protocol requires that a browser page of another origin is refused, whatever credential it sends.
  if (!isOurOrigin(headers.origin))
    return new Refusal('forbidden', 'Requests from this `Origin` are not taken: see `server.cors_origins`.');
  const outcome = await authenticate({ address: request.raw.socket.remoteAddress, headers });
  if ('denied' in outcome) return new Refusal(outcome.denied, outcome.reason);
  request.caller = outcome;
  return null;
}

async function requireInstalled(loaded: () => Promise<McpRequestHandler>): Promise<McpRequestHandler> {
  try {
    return await loaded();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Refusal(
      'not_configured',
      'The MCP library is not installed here: `npm install @modelcontextprotocol/server@2 @modelcontextprotocol/client@2`.',
    );
  }
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

/** Answers errors of the transport as JSON-RPC errors. */
async function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: McpPorts['log'],
): Promise<FastifyReply> {
  const refusal = readRefusal(error);
  if (refusal === null)
    log.error('an MCP request met a fault', { request_id: request.id, ...describeFault(error) });
  const { code, message } = refusal ?? {
    code: 'internal_error' as const,
    message: 'The service has a fault.',
  };
  if (refusal !== null) await prepareRefusal(refusal, request, reply);
  const word =
    code === 'internal_error' ? INTERNAL_ERROR : code === 'invalid_request' ? PARSE_ERROR : INVALID_REQUEST;
  reply.code(STATUS[code]).header('x-request-id', request.id);
  return reply.send({ jsonrpc: '2.0', id: null, error: { code: word, message, data: { code } } });
}
