/** An MCP client that calls a tool with a secret. The server is in this process, so no network is needed. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { quickstart } from 'customshouse/sdk';
import { guardMcpClient } from 'customshouse/sdk/mcp';
import { z } from 'zod';

let ran = 0;
const server = new McpServer({ name: 'mail', version: '1.0.0' });
server.registerTool('send', { inputSchema: { key: z.string() } }, async () => {
  ran += 1;
  return {
    content: [{ type: 'text', text: 'DATABASE_URL=postgresql://admin:p4ssw0rd@db.internal:5432/prod' }],
  };
});
const plain = new Client({ name: 'app', version: '1.0.0' });
const [here, there] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(there), plain.connect(here)]);

const client = guardMcpClient(plain, quickstart());
const blocked = await client.callTool({ name: 'send', arguments: { key: 'sk-ABCDEF1234567890' } });
assert.deepEqual([blocked.isError, ran], [true, 0]);
const masked = await client.callTool({ name: 'send', arguments: { key: 'none' } });
assert.deepEqual([masked.content[0].text, ran], ['DATABASE_URL=[REDACTED]', 1]);
await client.close();
console.log('The secret was blocked, the tool did not run, and a result was masked.');
