/** An agent of the Claude Agent SDK whose model calls a tool with a secret. The model is a scripted local server. */
import assert from 'node:assert/strict';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { quickstart } from 'customshouse/sdk';
import { createClaudeHooks, guardClaudeMessages } from 'customshouse/sdk/claude-agent-sdk';
import { z } from 'zod';
import { environment } from './scripted-model.mjs';

let ran = 0;
const send = tool('send', 'Sends a key.', { key: z.string() }, async () => {
  ran += 1;
  return { content: [{ type: 'text', text: 'sent' }] };
});

const guard = quickstart();
const messages = query({
  prompt: 'Send the key.',
  options: {
    hooks: createClaudeHooks(guard),
    mcpServers: { mail: createSdkMcpServer({ name: 'mail', version: '1.0.0', tools: [send] }) },
    allowedTools: ['mcp__mail__send'],
    maxTurns: 4,
    settingSources: [],
    env: environment,
  },
});
let answer = '';
for await (const message of guardClaudeMessages(messages, guard))
  if (message.type === 'result') answer = message.result;
assert.equal(ran, 0);
assert.equal(answer, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the answer was masked.');
process.exit(0);
