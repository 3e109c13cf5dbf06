import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { createClaudeHooks, guardClaudeMessages } from '../../../src/sdk/adapters/claude-agent-sdk.ts';
import { playAll, type Scene, type SceneResult, useTool, watchCall } from '../scenes.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
}

let current: { scene: Scene; seen: SceneResult } | null = null;

/** Answers as the Messages API does, by the scene that is played. */
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (!request.url?.includes('/v1/messages') || current === null)
    return void response.writeHead(404).end('{}');
  const { messages = [], model = 'scripted' } = JSON.parse(body) as {
    messages?: { role: string; content: unknown }[];
    model?: string;
  };
  const { scene, seen } = current;
  const blocks = messages.flatMap(({ role, content }) =>
    role !== 'user'
      ? []
      : Array.isArray(content)
        ? (content as Block[])
        : [{ type: 'text', text: String(content) }],
  );
  watchCall(scene, seen, 'messages', messages);
  const question = blocks.findLast(({ text }) => text === scene.prompt);
  if (question !== undefined) seen.question = scene.prompt;
  const result = blocks.find(({ type }) => type === 'tool_result');
  if (result !== undefined) {
    const { content } = result;
    seen.result = Array.isArray(content)
      ? (content as Block[]).map(({ text }) => text).join('')
      : String(content);
  }
  const calls = scene.city !== null && result === undefined && body.includes(`mcp__scene__${scene.tool}`);
  const block = calls
    ? { type: 'tool_use', id: 'toolu_1', name: `mcp__scene__${scene.tool}`, input: {} }
    : { type: 'text', text: '' };
  const delta = calls
    ? { type: 'input_json_delta', partial_json: JSON.stringify({ city: scene.city }) }
    : { type: 'text_delta', text: scene.answer };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    usage,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [type, data] of [
    ['message_start', { message }],
    ['content_block_start', { index: 0, content_block: block }],
    ['content_block_delta', { index: 0, delta }],
    ['content_block_stop', { index: 0 }],
    [
      'message_delta',
      { delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    ],
    ['message_stop', {}],
  ] as const)
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const home = mkdtempSync(join(tmpdir(), 'claude-agent-'));
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

await playAll(async (scene, seen, { guard }) => {
  current = { scene, seen };
  const lookUp = tool(scene.tool, 'Looks something up.', { city: z.string() }, async ({ city }) => ({
    content: [{ type: 'text', text: useTool(scene, seen, city) }],
  }));
  const messages = query({
    prompt: scene.prompt,
    options: {
      env,
      cwd: home,
      model: 'claude-sonnet-4-5',
      maxTurns: 4,
      settingSources: [],
      allowedTools: [`mcp__scene__${scene.tool}`],
      mcpServers: { scene: createSdkMcpServer({ name: 'scene', version: '1.0.0', tools: [lookUp] }) },
      hooks: createClaudeHooks(guard),
    },
  });
  for await (const message of guardClaudeMessages(messages, guard)) {
    if (process.env.SHOW_ERRORS) console.error(JSON.stringify(message).slice(0, 400));
    watchCall(scene, seen, 'stream', message);
    if (message.type === 'result') seen.answer = 'result' in message ? message.result : null;
  }
  if (seen.question === null) Object.assign(seen, { refused: seen.answer, answer: null });
});
