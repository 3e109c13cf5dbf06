/** Ways in which text could pass the guard of the MCP TypeScript SDK. Ends with 0 if none does. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolResultSchema, CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { guardMcpClient } from '../../../src/sdk/adapters/mcp.ts';
import { createEmbeddedGuard } from '../../../src/sdk/index.ts';
import { tryWays, type Ways } from '../ways.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const ADDRESS = `postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;
const guard = createEmbeddedGuard();
const ranWith: string[] = [];
const server = new McpServer({ name: 'scripted', version: '1.0.0' });
server.registerTool('look_up', { inputSchema: { city: z.string() } }, async ({ city }) => {
  ranWith.push(city);
  return { content: [{ type: 'text', text: ADDRESS }] };
});
server.registerTool('fail', { inputSchema: {} }, async () => {
  throw new Error(ADDRESS);
});
const plain = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { sampling: {} } });
const client = guardMcpClient(plain, guard);
const prompts: string[] = [];
let answer = '';
client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => {
  prompts.push(JSON.stringify(params.messages));
  return { model: 'own', role: 'assistant', content: { type: 'text', text: answer } };
});
const [here, there] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(there), client.connect(here)]);

const ways: Ways = {
  'a request by its method': async () => {
    const call = (city: string) =>
      client.request(
        { method: 'tools/call', params: { name: 'look_up', arguments: { city } } },
        CallToolResultSchema,
      );
    assert.equal((await call(KEY)).isError, true);
    const result = JSON.stringify(await call('Rome'));
    assert.ok(result.includes('[REDACTED]') && !result.includes('p4ssw0rd'));
    assert.deepEqual(ranWith, ['Rome']);
    assert.ok((await client.request({ method: 'ping' }, z.object({}))) !== undefined);
  },
  'a tool that fails': async () => {
    const result = JSON.stringify(await client.callTool({ name: 'fail', arguments: {} }));
    assert.ok(result.includes('[REDACTED]') && !result.includes('p4ssw0rd'));
  },
  'a stream of a task': async () => {
    assert.throws(() => client.experimental, /is not guarded/);
  },
  'a question of the server for the model': async () => {
    const ask = (text: string) =>
      server.server.createMessage({
        maxTokens: 10,
        messages: [{ role: 'user', content: { type: 'text', text } }],
      });
    answer = KEY;
    await assert.rejects(ask('hello'), /secret/);
    answer = 'Noted.';
    assert.ok(JSON.stringify(await ask(ADDRESS)).includes('Noted.'));
    assert.ok(!prompts.join().includes('p4ssw0rd'));
    assert.equal(prompts.length, 2);
  },
};

await tryWays(ways);
