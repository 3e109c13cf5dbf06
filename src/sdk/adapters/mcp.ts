/** Guards a client of the MCP TypeScript SDK: calls of tools, their results, resources and prompts. */
import { CustomshouseError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import { type AdapterOptions, overrideMembers, runOrReportBlock } from './blocked-call.ts';

interface CallParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** The methods of a client that carry content. */
interface McpClient {
  callTool(params: never, ...rest: never[]): Promise<unknown>;
  readResource?(params: never, ...rest: never[]): Promise<unknown>;
  getPrompt?(params: never, ...rest: never[]): Promise<unknown>;
}

interface ServerRequest {
  readonly method: string;
  readonly params?: unknown;
}

type RequestHandler = (request: ServerRequest, extra: unknown) => unknown;

/** Requests by which a server talks to the model or the user of a client. */
const DIALOGS: ReadonlySet<string> = new Set(['sampling/createMessage', 'elicitation/create']);

/** Checks what a server asks as a result, and the answer to it as a call. */
async function protectHandler(
  guard: Guard,
  request: ServerRequest,
  handler: (request: ServerRequest) => unknown,
): Promise<unknown> {
  const { method, params } = request;
  if (!DIALOGS.has(method)) return handler(request);
  const allowed = await guard.protect.toolResult(method, params);
  return guard.protect.tool(method, await handler({ ...request, params: allowed }));
}

type Method = (params: object, ...rest: unknown[]) => Promise<object>;

/**
 * Returns the same client behind the guard. A blocked call is not sent to the server. Texts, structured content,
 * resources and prompts are checked before the program sees them, as are requests of the server for an answer of the model
 * or the user.
 */
export function guardMcpClient<Client extends McpClient>(
  client: Client,
  guard: Guard,
  options: AdapterOptions = {},
): Client {
  const plain = client as unknown as Record<'callTool' | 'getPrompt' | 'readResource' | 'request', Method> & {
    setRequestHandler: (schema: unknown, handler: RequestHandler) => void;
  };
  const guarded = {
    callTool: (params: CallParams, ...rest: unknown[]) =>
      runOrReportBlock(
        options,
        () =>
          guard.run(params.name, params.arguments ?? {}, (allowed) =>
            plain.callTool.call(client, { ...params, arguments: allowed }, ...rest),
          ),
        (text) => ({ isError: true, content: [{ type: 'text', text }] }),
      ),
    readResource: (params: { uri: string }, ...rest: unknown[]) =>
      guard.run('resources/read', { uri: params.uri }, (allowed) =>
        plain.readResource.call(client, { ...params, ...allowed }, ...rest),
      ),
    getPrompt: (params: CallParams, ...rest: unknown[]) =>
      guard.run('prompts/get', { name: params.name, arguments: params.arguments ?? {} }, (allowed) =>
        plain.getPrompt.call(client, { ...params, ...allowed }, ...rest),
      ),
    setRequestHandler: (schema: unknown, handler: RequestHandler) =>
      plain.setRequestHandler.call(client, schema, (request, extra) =>
        protectHandler(guard, request, (given) => handler(given, extra)),
      ),
  };
  const requests: Readonly<Record<string, Method>> = {
    'tools/call': (params, schema, ...rest) =>
      guarded.callTool(params as CallParams, schema, ...rest) as Promise<object>,
    'resources/read': (params, _, ...rest) => guarded.readResource(params as { uri: string }, ...rest),
    'prompts/get': (params, _, ...rest) => guarded.getPrompt(params as CallParams, ...rest),
  };
  return overrideMembers(client, {
    ...guarded,
    request: ({ method, params = {} }: { method: string; params?: object }, ...rest: unknown[]) => {
      const own = requests[method];
      return own === undefined
        ? plain.request.call(client, { method, params }, ...rest)
        : own(params, ...rest);
    },
    // Its streams bring results that are not checked.
    get experimental() {
      throw new CustomshouseError('`client.experimental` is not guarded. Use `callTool`.');
    },
  });
}
