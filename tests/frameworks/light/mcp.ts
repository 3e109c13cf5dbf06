import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { guardMcpClient } from '../../../src/sdk/adapters/mcp.ts';
import { playAll, type Scene, type SceneResult, useTool } from '../scenes.ts';

/** Connects a client to a server in this process that has the tool of the scene, a resource and a prompt. */
async function connect(scene: Scene, seen: SceneResult): Promise<Client> {
  const server = new McpServer({ name: 'scripted', version: '1.0.0' });
  server.registerTool(scene.tool, { inputSchema: { city: z.string() } }, async ({ city }) => ({
    content: [{ type: 'text', text: useTool(scene, seen, city) }],
    structuredContent: { text: scene.result },
  }));
  server.registerResource('answer', 'mem://answer', {}, async () => ({
    contents: [{ uri: 'mem://answer', text: scene.answer }],
  }));
  server.registerPrompt('ask', { argsSchema: { question: z.string() } }, ({ question }) => {
    seen.question = question;
    return { messages: [{ role: 'user', content: { type: 'text', text: scene.answer } }] };
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  return client;
}

await playAll(async (scene, seen, { guard }) => {
  const client = guardMcpClient(await connect(scene, seen), guard);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  if (names[0] !== scene.tool) throw new Error('The client is not whole.');
  const prompt = await client.getPrompt({ name: 'ask', arguments: { question: scene.prompt } });
  if (scene.city !== null) {
    const result = (await client.callTool({ name: scene.tool, arguments: { city: scene.city } })) as {
      content: { text: string }[];
      structuredContent?: { text: string };
    };
    seen.result = result.content[0]?.text ?? null;
    if (JSON.stringify(result).includes('p4ssw0rd')) throw new Error('A result leaked.');
  }
  const { contents } = await client.readResource({ uri: 'mem://answer' });
  seen.answer = (contents[0] as { text: string }).text;
  if (JSON.stringify(prompt).includes('p4ssw0rd')) throw new Error('A prompt leaked.');
});
