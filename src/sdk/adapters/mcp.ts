/** Guards a client of the MCP TypeScript SDK: calls of tools, their results, resources and prompts. */
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

type Method = (params: object, ...rest: unknown[]) => Promise<object>;

/**
 * Returns the same client behind the guard. A blocked call is not sent to the server. Texts, structured content,
 * resources and prompts are checked before the program sees them.
 */
export function guardMcpClient<Client extends McpClient>(
  client: Client,
  guard: Guard,
  options: AdapterOptions = {},
): Client {
  const plain = client as unknown as { callTool: Method; readResource: Method; getPrompt: Method };
  return overrideMembers(client, {
    callTool: (params: CallParams, ...rest: unknown[]) =>
      runOrReportBlock(
        options,
        () =>
          guard.run(params.name, params.arguments ?? {}, (allowed) =>
            plain.callTool.call(client, { ...params, arguments: allowed }, ...rest),
          ),
        (text) => ({ isError: true, content: [{ type: 'text', text }] }),
      ),
    readResource: async (params: { uri: string }, ...rest: unknown[]) => {
      const { uri } = await guard.protect.tool('resources/read', { uri: params.uri });
      const found = await plain.readResource.call(client, { ...params, uri }, ...rest);
      return guard.protect.toolResult('resources/read', found);
    },
    getPrompt: async (params: CallParams, ...rest: unknown[]) => {
      const allowed = await guard.protect.tool('prompts/get', {
        name: params.name,
        arguments: params.arguments ?? {},
      });
      const found = await plain.getPrompt.call(client, { ...params, ...allowed }, ...rest);
      return guard.protect.toolResult('prompts/get', found);
    },
  });
}
