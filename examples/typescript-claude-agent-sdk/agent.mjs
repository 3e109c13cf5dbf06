/** An agent of the Claude Agent SDK whose model calls a tool with a secret. A local server stands in for the model. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { quickstart } from 'agent-safety/sdk';
import { createClaudeHooks, guardClaudeMessages } from 'agent-safety/sdk/claude-agent-sdk';
import { z } from 'zod';

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const calls = body.includes('mcp__mail__send') && !body.includes('"tool_result"');
  const block = calls
    ? { type: 'tool_use', id: 't1', name: 'mcp__mail__send', input: {} }
    : { type: 'text', text: '' };
  const delta = calls
    ? { type: 'input_json_delta', partial_json: '{"key":"sk-ABCDEF1234567890"}' }
    : { type: 'text_delta', text: 'I could not, write to jane.doe@corp-mail.io.' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  const events = {
    message_start: { message },
    content_block_start: { index: 0, content_block: block },
    content_block_delta: { index: 0, delta },
    content_block_stop: { index: 0 },
    message_delta: { delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage },
    message_stop: {},
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [type, data] of Object.entries(events))
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');

let ran = 0;
const send = tool('send', 'Sends a key.', { key: z.string() }, async () => {
  ran += 1;
  return { content: [{ type: 'text', text: 'sent' }] };
});

const guard = quickstart();
const home = mkdtempSync(join(tmpdir(), 'claude-agent-'));
const messages = query({
  prompt: 'Send the key.',
  options: {
    hooks: createClaudeHooks(guard),
    mcpServers: { mail: createSdkMcpServer({ name: 'mail', version: '1.0.0', tools: [send] }) },
    allowedTools: ['mcp__mail__send'],
    maxTurns: 4,
    settingSources: [],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  },
});
let answer = '';
for await (const message of guardClaudeMessages(messages, guard))
  if (message.type === 'result') answer = message.result;
assert.equal(ran, 0);
assert.equal(answer, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
process.exit(0);
