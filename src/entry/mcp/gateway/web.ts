import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { PolicyRefusal } from '../../../gateways/mcp/policy-refusal.ts';
import {
  type ClientIdentity,
  type GatewaySession,
  openSessionPool,
} from '../../../gateways/mcp/session-pool.ts';
import { Refusal } from '../../../operations/operation.ts';
import type { Runtime } from '../../../operations/runtime.ts';
import { dropBlankName, resolveSubject } from '../../../operations/subject.ts';
import { describeFault, type Log } from '../../../platform/log.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { readNameHeader } from '../../web/routes.ts';
import { answerMessage, type McpCallContext, type McpRequestHandler } from '../server/web.ts';
import { buildGuardPorts } from './guard-ports.ts';
import { readSubscriptionChange } from './subscription-changes.ts';

export interface GatewayWebParts {
  readonly runtime: Runtime;
  readonly mcp: Config['mcp'];
  readonly log: Pick<Log, 'error'>;
}

/**
 * Opens the MCP proxy for the configured servers in one worker. It connects to a server only when a request needs it.
 */
export function openGatewayWeb({ runtime, mcp, log }: GatewayWebParts): McpRequestHandler {
  const traces = new AsyncLocalStorage<string | undefined>();
  const pool = openSessionPool({
    buildGuardPorts,
    getTraceId: () => traces.getStore(),
    runtime,
    servers: mcp.servers,
    sessions_max: mcp.sessions_max,
    env: process.env,
    logFailure: (server, what, error) => log.error(what, { server, ...describeFault(error) }),
  });
  return {
    fetch: async (request, gone, requested) => {
      if (mcp.servers.length === 0)
        throw new Refusal(
          'not_configured',
          'There is no server behind the gateway: write one under `mcp.servers`.',
        );
      const { session, release } = pool.acquire(buildClientIdentity(request, requested, runtime));
      // The client chooses the IDs of requests; this ID identifies the subscription.
      const holder = randomUUID();
      const end = () => {
        release();
        void session.watching.unwatch(holder);
      };
      gone.addEventListener('abort', end, { once: true });
      try {
        const refusal = await watchResources(request.body, session, holder);
        // The client disconnected in the meantime, so its subscription ends.
        if (gone.aborted) end();
        return notifyWhenRead(
          refusal ??
            (await traces.run(requested.trace_id, () => answerRequest(session, request, gone, requested))),
          end,
        );
      } catch (error) {
        end();
        throw error;
      }
    },
    close: pool.close,
  };
}

/** The requests with which clients of both protocol revisions connect. */
const CONNECTING = new Set<unknown>(['initialize', 'server/discover']);

async function answerRequest(
  { handler, instructions }: GatewaySession,
  request: FastifyRequest,
  gone: AbortSignal,
  requested: McpCallContext,
): Promise<Response> {
  const { method } = (request.body ?? {}) as { readonly method?: unknown };
  const extra = CONNECTING.has(method) ? { instructions: await instructions() } : {};
  const clientId = requested.caller.id;
  return answerMessage(handler, request, gone, { token: '', clientId, scopes: [], extra });
}

/**
 * Returns the caller and the agent from the headers, within the credential's scope. In gateway mode the agent must be
 * known.
 */
function buildClientIdentity(
  request: FastifyRequest,
  { caller, request_id, tenant_id, user_id, task_id }: McpCallContext,
  runtime: Runtime,
): ClientIdentity {
  const context = { runtime, caller, request_id, ...(tenant_id !== undefined && { tenant_id }) };
  const subject = resolveSubject({ agent_id: readNameHeader(request, 'x-service-agent') }, context);
  const agentId = subject.agent_id === 'unknown' ? null : subject.agent_id;
  if (runtime.mode === 'gateway' && agentId === null)
    throw new Refusal('agent_context_required', 'Say which agent calls: send its name as `x-service-agent`.');
  return {
    tenant_id: subject.tenant_id,
    agent_id: agentId,
    user_id: dropBlankName(user_id),
    session_id: dropBlankName(readNameHeader(request, 'x-service-session')),
    task_id: task_id ?? null,
    caller,
  };
}

/**
 * Checks the resources that a client wants to subscribe to. Returns the error response if one is refused, else `null`.
 */
async function watchResources(
  body: unknown,
  { watching }: GatewaySession,
  holder: string,
): Promise<Response | null> {
  const listen = readSubscriptionChange(body);
  if (listen === null || listen.ends) return null;
  try {
    await watching.watch(holder, listen.uris);
    return null;
  } catch (error) {
    const message =
      error instanceof PolicyRefusal ? error.message : 'The server behind the gateway has failed.';
    return Response.json({ jsonrpc: '2.0', id: listen.id, error: { code: -32600, message } });
  }
}

/** Returns the same response, and calls `read` when all of it was read. */
function notifyWhenRead(response: Response, read: () => void): Response {
  if (response.body === null) {
    read();
    return response;
  }
  const { status, statusText, headers } = response;
  const counted = new TransformStream({ flush: read });
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}
