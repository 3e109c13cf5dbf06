// Guards a client of the MCP TypeScript SDK: tool calls, results, resources and prompts. Needs the package `customshouse`.
//
//   const client = guardClient(new Client({ name: 'app', version: '1.0.0' }));

import { createClientGuard } from 'customshouse/sdk';
import { guardMcpClient } from 'customshouse/sdk/mcp';

// Asks the service at SERVICE_URL. `quickstart()` decides in this process instead.
const guard = createClientGuard({ agent_id: 'mcp' });
export const guardClient = <Client extends Parameters<typeof guardMcpClient>[0]>(client: Client) =>
  guardMcpClient(client, guard);
