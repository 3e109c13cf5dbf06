import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { attachSource } from '../../gateways/mcp/exact-numbers.ts';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { buildOriginCheck } from '../../runtime/access/peer.ts';
import type { Config } from '../../runtime/config/index.ts';
import { STATUS } from '../web/errors.ts';
import { buildGuardedRoute, type GuardedRoute, type RoutePorts } from '../web/guarded-route.ts';
import { createDisconnectSignal, readNameHeader, readWorkContext } from '../web/routes.ts';
import type { McpRequestHandler } from './server/web.ts';

const TOOLS = '/mcp';
const GATEWAY = '/mcp/gateway';

/** The paths of MCP: the service's own tools, and the MCP proxy to the configured servers. */
export const MCP_ROUTES = [TOOLS, GATEWAY].map((path) => ({ http: { method: 'POST', path } }) as const);

export interface McpPorts extends RoutePorts {
  readonly runtime: Runtime;
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
  const web = createLazyValue(open);
  const isOurOrigin = buildOriginCheck(ports.cors_origins);
  app.addHook('preClose', () => web.ifOpened(({ close }) => close()));
  const route: GuardedRoute = {
    method: 'POST',
    url,
    // Calls are forwarded to servers, which must get numbers with the digits that were sent.
    config: url === GATEWAY ? { readBody: attachSource } : {},
    credential: 'required',
    // The protocol requires that a browser page of another origin is refused, whatever credential it sends.
    refuse: ({ headers }) => (isOurOrigin(headers.origin) ? null : new Refusal('forbidden', FOREIGN_ORIGIN)),
    subject: 'an MCP request',
    writeError: writeProtocolError,
    handle: async (request, reply, run) => {
      const requested = {
        caller: request.caller!,
        request_id: request.id,
        tenant_id: readNameHeader(request, 'x-service-tenant'),
        user_id: readNameHeader(request, 'x-service-user'),
        ...readWorkContext(request),
      };
      const opened = await requireInstalled(web.open);
      return reply.send(await run(() => opened.fetch(request, createDisconnectSignal(reply), requested)));
    },
  };
  app.route(buildGuardedRoute(route, ports));
}

const FOREIGN_ORIGIN = 'Requests from this `Origin` are not taken: see `server.cors_origins`.';

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

/** Writes an error of the transport as a JSON-RPC error. */
function writeProtocolError(
  refusal: Refusal | null,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { code, message } = refusal ?? {
    code: 'internal_error' as const,
    message: 'The service has a fault.',
  };
  const word =
    code === 'internal_error' ? INTERNAL_ERROR : code === 'invalid_request' ? PARSE_ERROR : INVALID_REQUEST;
  reply.code(STATUS[code]).header('x-request-id', request.id);
  return reply.send({ jsonrpc: '2.0', id: null, error: { code: word, message, data: { code } } });
}
