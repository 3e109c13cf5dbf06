import type { IncomingMessage } from 'node:http';
import {
  type AuthInfo,
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type McpHttpHandler,
  type McpRequestContext,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { buildInvalidMessageAnswer } from '../../../gateways/mcp/unreadable-messages.ts';
import { callOperation } from '../../../operations/call.ts';
import type { Context } from '../../../operations/operation.ts';
import type { Runtime } from '../../../operations/runtime.ts';
import { describeFault, type Log } from '../../../platform/log.ts';
import { readRefusal } from '../../web/errors.ts';
import { createToolServer } from './server.ts';

/** The authenticated caller and the other parts of the request context. */
export type McpCallContext = Pick<
  Context,
  'caller' | 'request_id' | 'task_id' | 'tenant_id' | 'trace_id' | 'user_id'
>;

export interface McpRequestHandler {
  /** Answers a request whose body has been read. */
  readonly fetch: (
    request: FastifyRequest,
    gone: AbortSignal,
    requested: McpCallContext,
  ) => Promise<Response>;
  /** Ends all open requests. */
  readonly close: () => Promise<void>;
}

/**
 * No subscriptions: the tool list does not change while a worker lives, so no client needs to hold a connection open.
 */
const SUBSCRIPTIONS_MAX = 0;

/** Opens the MCP handler of one worker. Each request gets a server of its own, so that any worker can answer it. */
export function openMcpHandler({
  runtime,
  log,
}: {
  runtime: Runtime;
  log: Pick<Log, 'error'>;
}): McpRequestHandler {
  const serverFor = ({ authInfo }: McpRequestContext) => {
    const requested = authInfo?.extra?.asked as McpCallContext;
    return createToolServer({
      version: runtime.version,
      run: (operation, input) => callOperation(operation, input, { runtime, ...requested }),
      expected: readRefusal,
      fault: (error, { name }) =>
        log.error('a tool met a fault', {
          request_id: requested.request_id,
          operation: name,
          ...describeFault(error),
        }),
    });
  };
  const handler = createMcpHandler(serverFor, { maxSubscriptions: SUBSCRIPTIONS_MAX });
  return {
    fetch: (request, gone, requested) =>
      answerMessage(handler, request, gone, {
        token: '',
        clientId: requested.caller.id,
        scopes: [],
        extra: { asked: requested },
      }),
    close: handler.close,
  };
}

/** Answers a message. One that does not follow JSON-RPC gets the same error as over standard input. */
export async function answerMessage(
  handler: McpHttpHandler,
  { raw, body = null }: FastifyRequest,
  gone: AbortSignal,
  authInfo: AuthInfo,
): Promise<Response> {
  const messages: readonly unknown[] = Array.isArray(body) && body.length > 0 ? body : [body];
  const invalid = messages.every(isMessage) ? null : buildInvalidMessageAnswer(body);
  if (invalid !== null) return Response.json(invalid, { status: 400 });
  return handler.fetch(buildWebRequest(raw, gone), { parsedBody: body, authInfo });
}

function isMessage(value: unknown): boolean {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

/** Converts the request for the library, without its body, which is passed separately. */
function buildWebRequest(raw: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers))
    if (value !== undefined) headers.set(name, [value].flat().join(', '));
  return new Request('http://service.invalid/mcp', { method: 'POST', headers, signal });
}
