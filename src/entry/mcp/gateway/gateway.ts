import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Json } from '../../../core/types.ts';
import type { Behind } from './behind.ts';
import { callTool } from './calls.ts';
import { sourceIn, writesSources } from './exact-numbers.ts';
import { failureOf } from './failure.ts';
import type { GatewayParts } from './parts.ts';
import { type Listing, listed, readResource, shownPrompt } from './passing.ts';
import { Refused } from './refused.ts';
import type { Watching } from './watching.ts';

const TITLE_CHARS_MAX = 128;

/** A server for one connection that stands before others: what passes has been judged, both ways. */
export function gatewayServer(parts: GatewayParts): Server {
  const { version, title, watching } = parts;
  const tells = watching === null ? {} : { listChanged: true };
  const server = new Server(
    { name: title.slice(0, TITLE_CHARS_MAX), version },
    {
      capabilities: {
        tools: tells,
        resources: { ...tells, ...(watching !== null && { subscribe: true }) },
        prompts: tells,
      },
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
      [key]: (await ofAll(parts, method, (behind) => listed(behind, { method, key }))).flat(),
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
  const lists = await ofAll(parts, 'tools/list', async ({ catalogue, naming }) =>
    (await catalogue.shown()).map((tool) => ({ ...tool, name: naming.shown(tool.name) }) as Tool),
  );
  const tools = lists.flat();
  const named = Map.groupBy(tools, ({ name }) => name);
  // Two that came to one name after they were cut: nobody could say which is meant.
  return tools.filter(({ name }) => named.get(name)?.length === 1);
}

/** Asks all servers at once. Those that fail are left out, unless there is no other. */
async function ofAll<T>(
  { behinds, failed }: GatewayParts,
  what: string,
  ask: (behind: Behind) => Promise<T>,
): Promise<T[]> {
  const answers = await Promise.allSettled(behinds.map(ask));
  for (const [at, answer] of answers.entries()) {
    const fault = answer.status === 'rejected' ? faultOf(answer.reason) : undefined;
    if (fault !== undefined) failed(behinds[at]!.name, `${what} has failed`, fault);
  }
  const [first] = answers;
  if (first?.status === 'rejected' && answers.length === 1) throw told(first.reason);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}

async function inWords<T>({ failed }: GatewayParts, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== undefined) failed('', `${what} could not be passed on`, fault);
    throw told(error);
  }
}

/** What the log is told of; `undefined` for a no of the policy, which is none. */
function faultOf(error: unknown): unknown {
  return error instanceof Refused ? error.cause : failureOf(error);
}

/** A no of ours says what it means. Of all else the kind is told, and nothing of a server's own words. */
function told(error: unknown): ProtocolError {
  if (error instanceof Refused) return new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
  const { message } = failureOf(error);
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The server behind the gateway has failed. ${message}`,
  );
}
