import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { rememberText } from '../../core/json/value-source.ts';
import { PACKAGE_NAME } from '../../core/names.ts';
import type { JsonObject } from '../../core/types/index.ts';
import { callUpstreamTool } from './call-tool.ts';
import { getWriteSources, readSource } from './exact-numbers.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { JudgedError, PolicyRefusal } from './policy-refusal.ts';
import { findLoggableFault, queryServers } from './query-servers.ts';
import type { ResourceWatcher } from './resource-watcher.ts';
import { getPrompt, type ListMethod, listEntries, readResource } from './resources-and-prompts.ts';
import { classifyFailure } from './server-failure.ts';

const TITLE_CHARS_MAX = 128;

/** Opens the MCP server of one client connection. Requests and responses are judged in both directions. */
export function openGatewayServer(parts: GatewayParts): Server {
  const { version, title, watcher, instructions } = parts;
  const notifications = watcher === null ? {} : { listChanged: true };
  const server = new Server(
    { name: title.slice(0, TITLE_CHARS_MAX), version },
    {
      capabilities: {
        tools: notifications,
        resources: { ...notifications, ...(watcher !== null && { subscribe: true }) },
        prompts: notifications,
      },
      ...(instructions !== undefined && { instructions }),
    },
  );
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(getWriteSources(transport));
  server.setRequestHandler('tools/list', () => listShownTools(parts));
  const handle = <Params>(
    method: 'tools/call' | ListMethod['method'] | 'resources/read' | 'prompts/get',
    answer: (params: Params, context: ServerContext) => Promise<object>,
  ) =>
    server.setRequestHandler(
      method,
      // The library has one answer type for each method. The servers' answers are judged, and passed on as they are.
      (({ params }: { params: Params }, context: ServerContext) => answer(params, context)) as never,
    );
  handle('tools/call', ({ name, arguments: input = {} }: CallParams, context) => {
    const source = readSource(context.mcpReq._meta);
    if (source !== null) rememberText(input, source);
    return callUpstreamTool({ name, input }, server, context, parts);
  });
  const lists = (method: ListMethod['method'], key: ListMethod['key']) =>
    handle(method, async () => ({
      [key]: (
        await runLogged(parts, method, () =>
          queryServers(parts, method, findListKind(method), (target) => listEntries(target, { method, key })),
        )
      ).answers.flat(),
    }));
  lists('resources/list', 'resources');
  lists('resources/templates/list', 'resourceTemplates');
  lists('prompts/list', 'prompts');
  handle('resources/read', (params: Parameters<typeof readResource>[1], context) =>
    runLogged(parts, 'resources/read', () => readResource(parts.servers, params, server, context)),
  );
  handle('prompts/get', (params: Parameters<typeof getPrompt>[1], context) =>
    runLogged(parts, 'prompts/get', () => getPrompt(parts.servers, params, server, context)),
  );
  if (watcher !== null) handleSubscriptions(server, parts, watcher);
  return server;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: JsonObject;
}

function handleSubscriptions(server: Server, parts: GatewayParts, watching: ResourceWatcher): void {
  const CLIENT = 'client';
  server.setRequestHandler('resources/subscribe', ({ params }) =>
    runLogged(parts, 'resources/subscribe', async () => {
      await watching.watch(CLIENT, [params.uri]);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    await watching.unwatch(CLIENT, [params.uri]);
    return {};
  });
}

/** Names the gateway's servers whose tools a list does not have yet, in its `_meta`. */
const STARTING = `${PACKAGE_NAME}/servers-starting`;

/** Returns the tools for agents: the pinned definitions, exactly as pinned, under their prefixed names. */
async function listShownTools(
  parts: GatewayParts,
): Promise<{ tools: Tool[]; _meta?: Record<string, unknown> }> {
  const { answers, slow } = await runLogged(parts, 'tools/list', () =>
    queryServers(parts, 'tools/list', 'tools', async ({ catalogue, naming }) =>
      (await catalogue.listShown()).map((tool) => ({ ...tool, name: naming.toAgentName(tool.name) }) as Tool),
    ),
  );
  const tools = answers.flat();
  const named = Map.groupBy(tools, ({ name }) => name);
  // Two tools whose shortened names are equal are ambiguous, so neither is listed.
  const shown = tools.filter(({ name }) => named.get(name)?.length === 1);
  return { tools: shown, ...(slow.length > 0 && { _meta: { [STARTING]: slow } }) };
}

function findListKind(method: ListMethod['method']): 'resources' | 'prompts' {
  return method === 'prompts/list' ? 'prompts' : 'resources';
}

async function runLogged<T>({ logFailure }: GatewayParts, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = error instanceof JudgedError ? undefined : findLoggableFault(error);
    if (fault !== undefined) logFailure('', `${what} could not be passed on`, fault);
    throw buildProtocolError(error);
  }
}

/**
 * Builds the error for the client: the sentence of a refusal, the judged message of a server, else only the kind of
 * failure.
 */
function buildProtocolError(error: unknown): ProtocolError {
  if (error instanceof JudgedError) return new ProtocolError(error.code, error.message);
  if (error instanceof PolicyRefusal)
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
  const { message } = classifyFailure(error);
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The server behind the gateway has failed. ${message}`,
  );
}
