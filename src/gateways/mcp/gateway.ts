import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Json } from '../../core/types/index.ts';
import { askAll, faultOf } from './ask-all.ts';
import { callTool } from './calls.ts';
import { sourceIn, writesSources } from './exact-numbers.ts';
import { failureOf } from './failure.ts';
import type { GatewayParts } from './parts.ts';
import { type Listing, listed, readResource, shownPrompt } from './passing.ts';
import { JudgedError, Refused } from './refused.ts';
import type { Watching } from './watching.ts';

const TITLE_CHARS_MAX = 128;

/** A server for one connection that stands before others: what passes has been judged, both ways. */
export function gatewayServer(parts: GatewayParts): Server {
  const { version, title, watching, instructions } = parts;
  const tells = watching === null ? {} : { listChanged: true };
  const server = new Server(
    { name: title.slice(0, TITLE_CHARS_MAX), version },
    {
      capabilities: {
        tools: tells,
        resources: { ...tells, ...(watching !== null && { subscribe: true }) },
        prompts: tells,
      },
      ...(instructions !== undefined && { instructions }),
    },
  );
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(writesSources(transport));
  server.setRequestHandler('tools/list', async () => ({ tools: await shownTools(parts) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const call = {
      name: params.name,
      input: (params.arguments ?? {}) as Json,
      source: sourceIn(context.mcpReq._meta),
    };
    return (await callTool(call, server, context, parts)) as never;
  });
  const lists = (method: Listing['method'], key: Listing['key']) =>
    server.setRequestHandler(method, (async () => ({
      [key]: (
        await inWords(parts, method, () =>
          askAll(parts, method, kindOf(method), (behind) => listed(behind, { method, key })),
        )
      ).flat(),
    })) as never);
  lists('resources/list', 'resources');
  lists('resources/templates/list', 'resourceTemplates');
  lists('prompts/list', 'prompts');
  const passes = (
    method: 'resources/read' | 'prompts/get',
    pass: (params: never, context: ServerContext) => Promise<object>,
  ) =>
    server.setRequestHandler(method, (async ({ params }: { params: never }, context: ServerContext) =>
      inWords(parts, method, () => pass(params, context))) as never);
  passes('resources/read', (params, context) => readResource(parts.behinds, params, server, context));
  passes('prompts/get', (params, context) => shownPrompt(parts.behinds, params, server, context));
  if (watching !== null) subscriptions(server, parts, watching);
  return server;
}

function subscriptions(server: Server, parts: GatewayParts, watching: Watching): void {
  const CLIENT = 'client';
  server.setRequestHandler('resources/subscribe', ({ params }) =>
    inWords(parts, 'resources/subscribe', async () => {
      await watching.want(CLIENT, [params.uri]);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    await watching.leave(CLIENT, [params.uri]);
    return {};
  });
}

/** The tools as agents may see them: those that are pinned, just as they were pinned, under their names here. */
async function shownTools(parts: GatewayParts): Promise<Tool[]> {
  const lists = await inWords(parts, 'tools/list', () =>
    askAll(parts, 'tools/list', 'tools', async ({ catalogue, naming }) =>
      (await catalogue.shown()).map((tool) => ({ ...tool, name: naming.shown(tool.name) }) as Tool),
    ),
  );
  const tools = lists.flat();
  const named = Map.groupBy(tools, ({ name }) => name);
  // Two that came to one name after they were cut: nobody could say which is meant.
  return tools.filter(({ name }) => named.get(name)?.length === 1);
}

function kindOf(method: Listing['method']): 'resources' | 'prompts' {
  return method === 'prompts/list' ? 'prompts' : 'resources';
}

async function inWords<T>({ failed }: GatewayParts, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = error instanceof JudgedError ? undefined : faultOf(error);
    if (fault !== undefined) failed('', `${what} could not be passed on`, fault);
    throw told(error);
  }
}

/** A no of ours says what it means, and what a server said was judged. Of all else the kind is told. */
function told(error: unknown): ProtocolError {
  if (error instanceof JudgedError) return new ProtocolError(error.code, error.message);
  if (error instanceof Refused) return new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
  const { message } = failureOf(error);
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The server behind the gateway has failed. ${message}`,
  );
}
