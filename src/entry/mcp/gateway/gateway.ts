import type { Client } from '@modelcontextprotocol/client';
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Json } from '../../../core/types.ts';
import { guardAnswer, guardTexts, type ToolAnswer, textsOf, withoutMeta } from './content.ts';
import type { Guard } from './guard.ts';
import type { Upstream } from './upstream.ts';

export interface GatewayParts {
  readonly upstream: Upstream;
  readonly guard: Guard;
  readonly version: string;
  /** By which name the upstream server is known here. */
  readonly server: string;
  /** Told of faults and of the upstream's failures, for the log. */
  readonly failed: (what: string, error: unknown) => void;
}

const PAGES_MAX = 100;
const CALL_MS_MAX = 600_000;

type Word = (message: string) => ProtocolError;
const refusal: Word = (message) => new ProtocolError(ProtocolErrorCode.InvalidRequest, message);

/** A server for one connection that stands before another: what passes has been judged, both ways. */
export function gatewayServer(parts: GatewayParts): Server {
  const { version, server: name } = parts;
  const server = new Server(
    { name: `service gateway: ${name}`.slice(0, 128), version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        prompts: { listChanged: true },
      },
    },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: await shownTools(parts) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const input = (params.arguments ?? {}) as Json;
    try {
      return (await callTool(parts, params.name, input, context)) as never;
    } catch (error) {
      parts.failed('a call could not be made', error);
      return stopped(
        'The server behind the gateway, or the gateway itself, has failed: nothing was passed on.',
      ) as never;
    }
  });
  const passing = (method: 'resources/list' | 'resources/templates/list' | 'prompts/list', key: string) =>
    server.setRequestHandler(method, (async ({ params }: { params?: object }) =>
      pass(parts, method, { ...params }, { [key]: [] })) as never);
  passing('resources/list', 'resources');
  passing('resources/templates/list', 'resourceTemplates');
  passing('prompts/list', 'prompts');
  for (const method of ['resources/read', 'prompts/get'] as const)
    server.setRequestHandler(method, (async ({ params }: { params: object }) =>
      pass(parts, method, plainParams(params), null)) as never);
  return server;
}

/** The upstream's tools as agents may see them: those that are pinned, just as they were pinned. */
async function shownTools({ upstream, guard }: GatewayParts): Promise<Tool[]> {
  const client = await upstream.client();
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools = await allTools(client);
  const held = await guard.definitions(tools);
  return tools.filter((tool) => held.get(tool.name) === null);
}

async function allTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params });
    tools.push(...(answer.tools as Tool[]));
    cursor = answer.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error('the list of tools has no end');
}

async function callTool(
  parts: GatewayParts,
  tool: string,
  input: Json,
  context: ServerContext,
): Promise<object> {
  const { upstream, guard } = parts;
  const client = await upstream.client();
  // Looked at with every call: the definition may have changed since the list was shown.
  const held = await guard.definitions(await allTools(client));
  const reason = held.get(tool);
  if (reason === undefined) return stopped('The server behind the gateway has no such tool.');
  if (reason !== null)
    return stopped(
      `The tool is held back until a person has looked at it: ${reason} See \`service mcp pins show\`.`,
    );
  const asked = await guard.request(tool, input);
  if ('blocked' in asked) return stopped(asked.blocked);
  const { signal, notify, _meta } = context.mcpReq;
  const progress_token = _meta?.progressToken;
  const answer = (await client.request(
    { method: 'tools/call', params: { name: tool, arguments: asked.value as Record<string, unknown> } },
    {
      signal,
      timeout: CALL_MS_MAX,
      ...(progress_token !== undefined && {
        resetTimeoutOnProgress: true,
        // Numbers pass; the words beside them are the server's own, and nobody has judged them.
        onprogress: ({ progress, total }: { progress: number; total?: number | undefined }) =>
          void notify({
            method: 'notifications/progress',
            params: { progressToken: progress_token, progress, ...(total !== undefined && { total }) },
          }).catch(() => {}),
      }),
    },
  )) as unknown as ToolAnswer;
  const judged = await guardAnswer(guard, tool, answer);
  return 'blocked' in judged ? stopped(judged.blocked) : judged.answer;
}

/** A request of another kind and its answer, judged as a call of a tool named like the method. */
async function pass(
  parts: GatewayParts,
  method: 'resources/list' | 'resources/templates/list' | 'prompts/list' | 'resources/read' | 'prompts/get',
  params: object,
  absent: object | null,
): Promise<object> {
  const { upstream, guard, failed } = parts;
  try {
    const client = await upstream.client();
    const capability =
      client.getServerCapabilities()?.[method.startsWith('prompts') ? 'prompts' : 'resources'];
    if (capability === undefined && absent !== null) return absent;
    const asked = await guard.request(method, params as Json);
    if ('blocked' in asked) throw refusal(asked.blocked);
    const answer = withoutMeta((await client.request({ method, params: asked.value as never })) as object);
    const stop = await guardTexts(guard, method, textsOf(answer));
    if (stop !== null) throw refusal(stop);
    return answer;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.InvalidRequest) throw error;
    failed(`${method} could not be passed on`, error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The server behind the gateway has failed.');
  }
}

function plainParams(params: object): object {
  const { _meta, ...rest } = params as { _meta?: unknown };
  return rest;
}

/** A no is a result: the agent reads why, and its host keeps the connection. */
function stopped(sentence: string): object {
  return { isError: true, content: [{ type: 'text', text: sentence }] };
}
