/** An agent of Mastra whose model calls a tool with a secret. The model is scripted, so no network is needed. */
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { quickstart } from 'agent-safety/sdk';
import { createMastraProcessor, guardMastraTools } from 'agent-safety/sdk/mastra';
import { z } from 'zod';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const doStream = async ({ prompt }) => {
  const has_result = prompt.some(({ role }) => role === 'tool');
  const chunks = has_result
    ? [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'I could not, write to jane.doe@' },
        { type: 'text-delta', id: '1', delta: 'corp-mail.io.' },
        { type: 'text-end', id: '1' },
      ]
    : [{ type: 'tool-call', toolCallId: '1', toolName: 'send', input: '{"key":"sk-ABCDEF1234567890"}' }];
  const finish = { type: 'finish', finishReason: has_result ? 'stop' : 'tool-calls', usage };
  return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...chunks, finish]) };
};
const scripted = {
  specificationVersion: 'v2',
  provider: 'own',
  modelId: 'scripted',
  supportedUrls: {},
  doStream,
};

let ran = 0;
const send = createTool({
  id: 'send',
  description: 'Sends a key.',
  inputSchema: z.object({ key: z.string() }),
  execute: async () => {
    ran += 1;
    return 'sent';
  },
});

const guard = quickstart();
const processor = createMastraProcessor(guard);
const agent = new Agent({
  name: 'helper',
  instructions: 'Help.',
  model: scripted,
  tools: guardMastraTools({ send }, guard),
  inputProcessors: [processor],
  outputProcessors: [processor],
});
let text = '';
for await (const piece of (await agent.stream('Send the key.')).textStream) text += piece;
assert.equal(ran, 0);
assert.equal(text, 'I could not, write to [REDACTED].');
console.log('The secret was blocked, the tool did not run, and the stream was masked.');
process.exit(0);
